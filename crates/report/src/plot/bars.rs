//! Charts of horizontal bars with names.

use super::frame::Frame;
use crate::draw::{Anchor, Axes, COLOURS, Picture, Shape, Words, rectangle, thousands, width};

/// The maximum number of bars in a chart.
const MAX: usize = 40;

/// Plots the first values as horizontal bars with names, from top to bottom; a missing value is shown as `none`.
pub(super) fn lying(
    title: &str,
    along: &str,
    none: &str,
    all: &[(String, Option<f64>)],
) -> Picture {
    let shown = &all[..all.len().min(MAX)];
    let cut = if all.len() > MAX { format!(" ({MAX} of {})", all.len()) } else { String::new() };
    let names: Vec<&str> = shown.iter().map(|bar| bar.0.as_str()).collect();
    let mut frame = Frame::of_lines(&format!("{title}{cut}"), &[], &names);
    let [left, top, right, bottom] = frame.frame;
    let most = shown.iter().filter_map(|bar| bar.1).fold(0.0, f64::max);
    let text = |value: Option<f64>| match value {
        None => none.to_owned(),
        Some(value) if value >= 1000.0 => thousands(value),
        Some(value) => format!("{value:.2}"),
    };
    // Leaves room for the numbers after the bars.
    let numbers = shown.iter().map(|bar| 10.0 + width(&text(bar.1))).fold(0.0, f64::max);
    let part = (right - left - numbers).max(20.0) / (right - left);
    let axes = Axes::linear([left, top, right, bottom], [most / part, 1.0]);
    frame.name([along, ""]);
    if shown.is_empty() {
        frame.empty();
        return frame.finish(Some(&axes));
    }
    let step = (bottom - top) / shown.len() as f64;
    let middle = |at: usize| top + step * (at as f64 + 0.5);
    let end = |value: Option<f64>| axes.x(value.unwrap_or(0.0));
    let bar = |(at, (_, value)): (usize, &(String, Option<f64>))| {
        let half = 0.4 * step;
        rectangle([left, middle(at) - half, end(*value), middle(at) + half])
    };
    let bars = shown.iter().enumerate().map(bar).collect();
    frame.draw([Shape::filled(bars, COLOURS[0], 0.9)]);
    frame.label(shown.iter().enumerate().map(|(at, (name, _))| (name.clone(), middle(at))));
    let number = |(at, (_, value)): (usize, &(String, Option<f64>))| {
        Words::new(text(*value), [end(*value) + 5.0, middle(at) + 4.0], Anchor::Start)
    };
    frame.write(shown.iter().enumerate().map(number));
    frame.write(axes.numbers_along());
    frame.finish(Some(&axes))
}
