/* A bar of a chart leads to the list behind it, as the same figure in the chart's table does. */

const linkAt = (event) => {
  const chart = event.target instanceof HTMLCanvasElement && Chart.getChart(event.target);
  const [bar] = chart ? chart.getElementsAtEventForMode(event, "nearest", { intersect: true }, true) : [];
  return bar && chart.data.datasets[bar.datasetIndex].links?.[bar.index];
};

document.addEventListener("click", (event) => {
  const link = linkAt(event);
  if (link) location.assign(link);
});

document.addEventListener("mousemove", (event) => {
  if (event.target instanceof HTMLCanvasElement) event.target.classList.toggle("is-link", Boolean(linkAt(event)));
});
