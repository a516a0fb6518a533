// Zooming along x: by the wheel with Ctrl, by a slider, and by buttons, which keyboards reach.
import { el } from "./dom.js";

/** The options of ECharts for it. The wheel alone scrolls the page. */
export const sliders = () => [
  { type: "inside", filterMode: "none", zoomOnMouseWheel: "ctrl" },
  { type: "slider", filterMode: "none", height: 18, bottom: 8, brushSelect: false, showDataShadow: false },
];

/** The least part of the axis that is shown, in percent. */
const LEAST = 0.5;

/** Where a part of the axis, in percent of it, lies after a step. */
const STEPS = {
  in: ([start, end]) => [start + (end - start) / 4, end - (end - start) / 4],
  out: ([start, end]) => [start - (end - start) / 2, end + (end - start) / 2],
  left: ([start, end]) => [start - (end - start) / 2, end - (end - start) / 2],
  right: ([start, end]) => [start + (end - start) / 2, end + (end - start) / 2],
};

/** A part of the axis that does not leave it. */
function within([start, end]) {
  const width = Math.min(100, Math.max(LEAST, end - start));
  const from = Math.min(100 - width, Math.max(0, start));
  return { start: from, end: from + width };
}

/** Buttons above a chart of that title, which `drawn` gives. */
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
