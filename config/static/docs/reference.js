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
        part("Models"),
      );
    },
  },
});

// Name the elements that Swagger UI leaves unnamed, and let the keyboard reach its code.
const NAMES = { "content-type": "Media type", "examples-select-element": "Example" };
const LEVELS = { h3: 2, h4: 3, h5: 4 }; // the page's own title is above them
function addAccessibility() {
  for (const choice of document.querySelectorAll("#reference select:not([aria-label])")) {
    const name = Object.keys(NAMES).find((part) => choice.className.includes(part));
    choice.setAttribute("aria-label", NAMES[name] ?? "Value");
  }
  for (const code of document.querySelectorAll("#reference pre:not([tabindex])")) code.tabIndex = 0;
  for (const title of document.querySelectorAll("#reference :is(h3, h4, h5)")) title.ariaLevel = LEVELS[title.localName];
  for (const title of document.querySelectorAll("#reference .models > h4")) title.ariaLevel = 2;
}
new MutationObserver(addAccessibility).observe(document.getElementById("reference"), { childList: true, subtree: true });

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  plugins: [layout],
  layout: "Page",
  deepLinking: false, // its links would be inside buttons, out of the keyboard's reach
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  showCommonExtensions: true,
  tryItOutEnabled: true,
  validatorUrl: null, // ask nobody else about the schema
});
