// The guide was one page: lead an anchor that is on another page now to its place.
const anchor = location.hash.slice(1);
if (anchor && !document.getElementById(anchor)) {
  const sections = await (await fetch(document.querySelector(".search").dataset.index)).json();
  const section = sections.find(({ url }) => url.endsWith(`#${anchor}`));
  if (section) location.replace(section.url);
}
