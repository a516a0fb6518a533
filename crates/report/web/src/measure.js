// Widths of texts, so that labels are placed where they fit.

export const FONT = "system-ui, sans-serif";
const pen = document.createElement("canvas").getContext("2d");

/** The width of a text in pixels. */
export function widthOf(text, size) {
  pen.font = `${size}px ${FONT}`;
  return pen.measureText(text).width;
}

/** The beginning of a text that fits, with an ellipsis if it is not the whole text. */
export function fitted(text, room, size) {
  if (widthOf(text, size) <= room) return text;
  const letters = [...text];
  let [most, least] = [letters.length, 0];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (widthOf(`${letters.slice(0, middle).join("")}…`, size) <= room) least = middle;
    else most = middle - 1;
  }
  return `${letters.slice(0, least).join("")}…`;
}

/** Breaks a text at spaces into lines that fit; at most `most`. */
export function wrapped(text, room, size, most) {
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : word;
    if (lines.length > 0 && (widthOf(longer, size) <= room || lines.length === most)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line) => fitted(line, room, size));
}
