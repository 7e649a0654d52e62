// Mark the section being read in the table of contents.
const contents = document.querySelector(".contents");
const sections = [...contents.querySelectorAll(".sections a")].map((link) => ({ link, heading: document.getElementById(link.hash.slice(1)) }));
const READING_LINE = 0.25; // of the window's height

function current() {
  const { scrollHeight } = document.documentElement;
  if (scrollY > 0 && scrollY + innerHeight >= scrollHeight - 1) return sections.at(-1);
  return sections.findLast(({ heading }) => heading.getBoundingClientRect().top <= innerHeight * READING_LINE) ?? sections[0];
}

function mark() {
  const { link } = current();
  if (link.ariaCurrent) return;
  contents.querySelector("[aria-current=location]")?.removeAttribute("aria-current");
  link.setAttribute("aria-current", "location");
  const { offsetTop, offsetHeight } = link;
  const isShown = offsetTop >= contents.scrollTop && offsetTop + offsetHeight <= contents.scrollTop + contents.clientHeight;
  if (!isShown) contents.scrollTop = offsetTop - contents.clientHeight / 2;
}

addEventListener("scroll", mark, { passive: true });
addEventListener("resize", mark);
mark();
