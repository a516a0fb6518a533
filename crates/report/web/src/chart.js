// A chart with a caption, downloads, and a table of its numbers, which also serves users who cannot see the chart.
import { BarChart, HeatmapChart, LineChart, SankeyChart, ScatterChart, SunburstChart } from "echarts/charts";
import {
  DataZoomComponent,
  GraphicComponent,
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  MarkLineComponent,
  TooltipComponent,
  VisualMapComponent,
} from "echarts/components";
import * as echarts from "echarts/core";
import { LabelLayout } from "echarts/features";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";
import { el, fileName, freshId, save } from "./dom.js";
import { FONT } from "./measure.js";
import { colours, onTheme } from "./palette.js";
import { table } from "./table.js";
import { sliders, zoomButtons } from "./zoom.js";

echarts.use([
  BarChart,
  HeatmapChart,
  LineChart,
  SankeyChart,
  ScatterChart,
  SunburstChart,
  DataZoomComponent,
  GraphicComponent,
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  MarkLineComponent,
  TooltipComponent,
  VisualMapComponent,
  LabelLayout,
  CanvasRenderer,
  SVGRenderer,
]);

/** The minimum device pixels per pixel of the page; enough for print. */
const DOTS = 2;

/** Adds the options that all charts share: no markup in tooltips, colours of the theme, no animation, no progressive drawing. */
function complete(option, zoomed) {
  const { ink, paper, faint, series } = colours();
  const axis = ({ axisLabel, ...given }) => ({
    nameLocation: "middle",
    axisLine: { show: true, lineStyle: { color: ink } },
    axisLabel: { color: ink, hideOverlap: true, ...axisLabel },
    nameTextStyle: { color: ink },
    splitLine: { lineStyle: { color: faint } },
    ...given,
  });
  const axes = (given, gap) => given && [given].flat().map((one) => axis({ nameGap: gap, ...one }));
  return {
    animation: false,
    color: series,
    backgroundColor: paper,
    textStyle: { color: ink, fontFamily: FONT },
    ...option,
    series: option.series.map((one) => ({ progressiveThreshold: Infinity, ...one })),
    ...(zoomed && { dataZoom: sliders() }),
    ...(option.xAxis && { xAxis: axes(option.xAxis, 30) }),
    ...(option.yAxis && { yAxis: axes(option.yAxis, 64) }),
    tooltip: {
      renderMode: "richText",
      confine: true,
      backgroundColor: paper,
      borderColor: ink,
      textStyle: { color: ink },
      ...option.tooltip,
    },
    ...(option.legend && {
      legend: { type: "scroll", top: 0, textStyle: { color: ink }, pageTextStyle: { color: ink }, ...option.legend },
    }),
  };
}

/**
 * A figure. `make` returns the ECharts options in the colours of the theme, optionally for a given width; `height` may depend on the width,
 * too; `numbers` returns the columns and rows of its table; `controls` are elements above it; `width` is its minimum width in pixels;
 * `zoomed` tells whether the x axis can be zoomed; `onReady` gets the ECharts instance.
 */
export function chart({ title, about, make, numbers, height = 380, width = 0, controls = [], zoomed = false, onReady }) {
  const id = freshId();
  const place = el("div", { class: "chart", role: "img", "aria-label": `${title}. ${about}` });
  const heightOf = typeof height === "function" ? height : () => height;
  // A chart that is wider than the page can be scrolled.
  place.style.minWidth = `${width}px`;
  const frame = width > 0 ? el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, place) : place;
  const button = (label, onclick) => el("button", { type: "button", onclick, "aria-label": `${label}: ${title}` }, label);
  const svg = () => {
    const width = Math.max(place.clientWidth, 480);
    const drawn = echarts.init(null, null, { renderer: "svg", ssr: true, width, height: heightOf(width) });
    drawn.setOption(complete(make(width), zoomed));
    const text = drawn.renderToSVGString();
    drawn.dispose();
    return text;
  };
  const details = el("details", {}, el("summary", {}, "Data of this chart"));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(table({ title, ...numbers() }));
  });
  const tools = el(
    "div",
    { class: "tools" },
    ...controls,
    ...(zoomed ? zoomButtons(title, () => drawn) : []),
    button("SVG", () => save(fileName(title, "svg"), "image/svg+xml", svg())),
    button("PNG", () => {
      // Three pixels per pixel of the page; enough for print.
      const url = drawn.getDataURL({ type: "png", pixelRatio: 3, backgroundColor: colours().paper });
      const bytes = Uint8Array.from(atob(url.split(",")[1]), (letter) => letter.charCodeAt(0));
      save(fileName(title, "png"), "image/png", new Blob([bytes], { type: "image/png" }));
    }),
  );
  const caption = el("figcaption", { id }, el("h3", {}, title), el("p", {}, about));
  const figure = el("figure", { "aria-labelledby": id }, caption, tools, frame, details);
  let drawn = null;
  const draw = () => {
    place.style.height = `${heightOf(place.clientWidth)}px`;
    drawn ??= echarts.init(place, null, { renderer: "canvas", devicePixelRatio: Math.max(DOTS, window.devicePixelRatio) });
    drawn.resize();
    drawn.setOption(complete(make(place.clientWidth), zoomed), { notMerge: true });
  };
  const drawing = { figure, draw, svg };
  const drop = () => {
    alive.delete(drawing);
    size.disconnect();
    drawn.dispose();
    drawn = null;
  };
  // An element that is removed from the page, because another sample is chosen, is resized to 0.
  const size = new ResizeObserver(() => (place.isConnected ? fit() : drop()));
  const fit = () => {
    drawn.resize();
    if (make.length > 0) draw();
  };
  // A chart has a size only after it was added to the page.
  queue.push(() => {
    draw();
    onReady?.(drawn);
    alive.add(drawing);
    size.observe(place);
  });
  figure.redraw = () => drawn && draw();
  return figure;
}

const queue = [];
/** The charts that are in the page. */
const alive = new Set();
onTheme(() => alive.forEach(({ draw }) => draw()));

// Print vector graphics; the theme is already light.
window.addEventListener("beforeprint", () => {
  for (const { figure, svg } of alive) {
    const src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg())}`;
    figure.append(el("img", { class: "paper", alt: "", src }));
  }
});
window.addEventListener("afterprint", () => document.querySelectorAll("img.paper").forEach((image) => image.remove()));

/** Draws all charts that were added to the page. */
export function drawAll() {
  while (queue.length > 0) queue.shift()();
}

/** A figure without a chart, if there is nothing to draw. */
export const nothing = (title, why) => el("figure", {}, el("figcaption", {}, el("h3", {}, title)), el("p", { class: "empty" }, why));

/** A check box. */
export function tick(label, on, onchange) {
  const input = el("input", { type: "checkbox", onchange: () => onchange(input.checked) });
  input.checked = on;
  return el("label", {}, input, ` ${label}`);
}

/** A drop-down list. */
export function choice(label, options, onchange) {
  const select = el(
    "select",
    { onchange: () => onchange(select.value) },
    options.map(([value, text]) => el("option", { value }, text)),
  );
  return el("label", {}, `${label} `, select);
}
