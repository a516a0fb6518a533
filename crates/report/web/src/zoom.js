// Zooming of the x axis: with Ctrl and the mouse wheel, with a slider, and with buttons, which are usable from the keyboard.
import { el } from "./dom.js";

/** The ECharts options for zooming. The wheel without Ctrl scrolls the page. */
export const sliders = () => [
  { type: "inside", filterMode: "none", zoomOnMouseWheel: "ctrl" },
  { type: "slider", filterMode: "none", height: 18, bottom: 8, brushSelect: false, showDataShadow: false },
];

/** The smallest part of the axis that can be shown, in percent. */
const LEAST = 0.5;

/** The visible part of the axis after a step, in percent. */
const STEPS = {
  in: ([start, end]) => [start + (end - start) / 4, end - (end - start) / 4],
  out: ([start, end]) => [start - (end - start) / 2, end + (end - start) / 2],
  left: ([start, end]) => [start - (end - start) / 2, end - (end - start) / 2],
  right: ([start, end]) => [start + (end - start) / 2, end + (end - start) / 2],
};

/** Limits a part to the axis. */
function within([start, end]) {
  const width = Math.min(100, Math.max(LEAST, end - start));
  const from = Math.min(100 - width, Math.max(0, start));
  return { start: from, end: from + width };
}

/** The zoom buttons of a chart; `drawn` returns its ECharts instance. */
export function zoomButtons(title, drawn) {
  const step = (which) => () => {
    const [{ start, end }] = drawn().getOption().dataZoom;
    drawn().dispatchAction({ type: "dataZoom", ...within(STEPS[which]([start, end])) });
  };
  const button = (text, label, which) =>
    el("button", { type: "button", onclick: step(which), "aria-label": `${label}: ${title}`, title: label }, text);
  return [
    button("+", "Zoom in", "in"),
    button("−", "Zoom out", "out"),
    button("←", "Move left", "left"),
    button("→", "Move right", "right"),
  ];
}
