"use strict";

// Swagger UI turns dark by a class; follow the reader's system.
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

// Leave out Swagger UI's own title, choice of servers and main landmark: this page has them.
const layout = ({ React }) => ({
  components: {
    Page: ({ getComponent, specSelectors }) => {
      const status = specSelectors.loadingStatus();
      if (status === "failed") return React.createElement("p", null, "The schema could not be loaded.");
      if (status !== "success") return null;
      const part = (name) => React.createElement(getComponent(name, true));
      return React.createElement(
        "div",
        { className: "swagger-ui" },
        React.createElement(getComponent("SvgAssets")),
        React.createElement("div", { className: "scheme-container" }, part("AuthorizeBtnContainer")),
        part("operations"),
        part("Webhooks"),
        part("Models"),
      );
    },
  },
});

// Fold errors and headers, which are most of an operation's length.
const folds = ({ React }) => ({
  wrapComponents: {
    response: (Response) => (props) => {
      const [isOpen, setOpen] = React.useState(false);
      const response = React.createElement(Response, props);
      if (!(props.code >= 400)) return response; // 2XX too
      const text = `${props.code} ${props.response.get("description")}`.split("\n")[0];
      const button = { type: "button", className: "unfold", "aria-expanded": isOpen, onClick: () => setOpen(!isOpen) };
      const cell = React.createElement("td", { colSpan: 2 }, React.createElement("button", button, text));
      const row = React.createElement("tr", { className: "folded" }, cell);
      return React.createElement(React.Fragment, null, row, isOpen && response);
    },
    headers: (Headers) => (props) => {
      if (!props.headers?.size) return null;
      const summary = React.createElement("summary", null, "Headers");
      return React.createElement("details", null, summary, React.createElement(Headers, props));
    },
  },
});

// Name the elements that Swagger UI leaves unnamed, and let the keyboard reach what scrolls.
const NAMES = { "content-type": "Media type", "examples-select-element": "Example" };
const LEVELS = { h3: 2, h4: 3, h5: 4 }; // the page's own title is above them
function addAccessibility() {
  for (const choice of document.querySelectorAll("#reference select:not([aria-label])")) {
    const name = Object.keys(NAMES).find((part) => choice.className.includes(part));
    choice.setAttribute("aria-label", NAMES[name] ?? "Value");
  }
  for (const body of document.querySelectorAll("#reference textarea:not([aria-label])")) body.ariaLabel = "Body";
  const wide = document.querySelectorAll("#reference :is(pre, .renderedMarkdown table, .headers):not([tabindex])");
  for (const part of wide) part.tabIndex = 0;
  for (const title of document.querySelectorAll("#reference :is(h3, h4, h5)")) title.ariaLevel = LEVELS[title.localName];
  for (const title of document.querySelectorAll("#reference .models > h4")) title.ariaLevel = 2;
  for (const schema of document.querySelectorAll("#reference .models [data-json-schema-level='0']:not([id])"))
    schema.id = `schema-${schema.querySelector(".json-schema-2020-12__title").textContent}`;
}
new MutationObserver(addAccessibility).observe(document.getElementById("reference"), { childList: true, subtree: true });

// Show the operation or the schema that a link leads to.
const FOLDED = ".opblock-summary-control[aria-expanded=false], button:has(> .json-schema-2020-12-accordion__icon--collapsed)";
function showLinked() {
  addAccessibility();
  const linked = document.getElementById(location.hash.slice(1));
  linked?.querySelector(FOLDED)?.click();
  requestAnimationFrame(() => linked?.scrollIntoView()); // once it is as long as it gets
}
addEventListener("hashchange", showLinked);

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  plugins: [layout, folds],
  layout: "Page",
  onComplete: showLinked,
  deepLinking: false, // its links would be inside buttons, out of the keyboard's reach
  displayRequestDuration: true,
  showCommonExtensions: true,
  tryItOutEnabled: true,
  validatorUrl: null, // ask nobody else about the schema
});
