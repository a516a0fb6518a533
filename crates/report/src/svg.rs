//! Scenes as SVG.

use std::fmt::Write;

use crate::scene::{Anchor, BARS, HEIGHT, INK, PEAKS, Scene, WIDTH, Words};

/// An SVG picture.
pub(crate) fn draw(scene: &Scene) -> String {
    let [[left, high], [_, low], [right, _]] = scene.axes;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         fill=\"white\"/>\n"
    );
    let mut bars = String::new();
    for [left, right, up] in &scene.bars {
        let _ = write!(bars, "M{left:.2} {low:.2}V{up:.2}H{right:.2}V{low:.2}Z");
    }
    let _ = writeln!(out, "<path d=\"{bars}\" fill=\"{BARS}\"/>");
    let points: Vec<_> = scene.model.iter().map(|[x, y]| format!("{x:.2},{y:.2}")).collect();
    let points = points.join(" ");
    let line = format!("fill=\"none\" stroke=\"{INK}\"");
    let _ = writeln!(out, "<polyline points=\"{points}\" {line} stroke-width=\"1.5\"/>");
    for at in &scene.peaks {
        let _ = writeln!(
            out,
            "<path d=\"M{at:.2} {low:.2}V{high:.2}\" stroke=\"{PEAKS}\" stroke-dasharray=\"4 4\"/>"
        );
    }
    let _ = writeln!(out, "<path d=\"M{left} {high}V{low:.2}H{right}\" {line}/>");
    for Words { text, at: [x, y], anchor } in &scene.words {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let _ = writeln!(out, "<text x=\"{x:.2}\" y=\"{y:.2}\"{anchor}>{text}</text>");
    }
    out.push_str("</svg>\n");
    out
}
