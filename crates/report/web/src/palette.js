// Colours that people with colour blindness can distinguish (Okabe and Ito, 2008), in shades for light and for dark backgrounds.

const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f00", "#000000"];
const DARK = ["#56b4e9", "#ff8c42", "#2fd6a5", "#e5a3c8", "#f0c04a", "#8ecbff", "#d6d64d", "#ffffff"];

const asked = window.matchMedia("(prefers-color-scheme: dark)");
let chosen = null;
const listeners = [];

export const isDark = () => (chosen === null ? asked.matches : chosen === "dark");

/** The colours of charts in the current theme. */
export function colours() {
  return isDark()
    ? { series: DARK, ink: "#e8e8e8", faint: "#3a3f46", paper: "#15181c", muted: "#8b939c", other: "#5c6670" }
    : { series: LIGHT, ink: "#1d2127", faint: "#d9dde2", paper: "#ffffff", muted: "#5b636d", other: "#b3bac2" };
}

/** Dash styles and symbols, which distinguish lines and points of the same colour. */
export const DASHES = ["solid", [8, 4], [2, 3], [10, 3, 2, 3]];
export const SYMBOLS = ["circle", "rect", "triangle", "diamond"];

export const onTheme = (listener) => listeners.push(listener);

function tell() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  listeners.forEach((listener) => listener());
}

/** Switches between the light and the dark theme. */
export function toggle() {
  chosen = isDark() ? "light" : "dark";
  tell();
}

/** Follows the system's theme, and uses the light one for print. */
export function startTheme() {
  asked.addEventListener("change", tell);
  let before = null;
  window.addEventListener("beforeprint", () => ((before = chosen), (chosen = "light"), tell()));
  window.addEventListener("afterprint", () => ((chosen = before), tell()));
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
}
