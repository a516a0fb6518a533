//! Writes scenes as SVG.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::font::{ASCII, FAMILY};
use super::scene::{Anchor, Line, Scene, Shape, Words};

/// Returns a scene as SVG.
pub(crate) fn draw(scene: &Scene) -> String {
    let Scene { width, height, .. } = scene;
    let font = STANDARD.encode(ASCII);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FAMILY}, sans-serif\" font-size=\"13\">\n\
         <style>@font-face{{font-family:\"{FAMILY}\";\
         src:url(data:font/woff2;base64,{font})}}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    scene.shapes.iter().for_each(|shape| put(shape, &mut out));
    for Words { text, at: [x, y], anchor } in &scene.words {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let text = escaped(text);
        let _ = writeln!(out, "<text x=\"{x:.2}\" y=\"{y:.2}\"{anchor}>{text}</text>");
    }
    out.push_str("</svg>\n");
    out
}

fn put(shape: &Shape, out: &mut String) {
    out.push_str("<path d=\"");
    for path in &shape.paths {
        for (at, [x, y]) in path.iter().enumerate() {
            let _ = write!(out, "{}{x:.2} {y:.2}", if at == 0 { 'M' } else { 'L' });
        }
        if shape.fill.is_some() {
            out.push('Z');
        }
    }
    let fill = match shape.fill {
        Some((colour, 1.0)) => format!("\" fill=\"{colour}\""),
        Some((colour, opacity)) => format!("\" fill=\"{colour}\" fill-opacity=\"{opacity}\""),
        None => "\" fill=\"none\"".to_owned(),
    };
    out.push_str(&fill);
    if let Some(Line { colour, width, is_dashed }) = shape.line {
        let dashes = if is_dashed { " stroke-dasharray=\"4 4\"" } else { "" };
        let _ = write!(out, " stroke=\"{colour}\" stroke-width=\"{width}\"{dashes}");
    }
    out.push_str("/>\n");
}

/// Escapes a text, because file names may contain any characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            control if control.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            other => out.push(other),
        }
    }
    out
}
