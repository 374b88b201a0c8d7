//! The chart: three curves over the years, each with maintenance and without, as SVG by hand. Its colours are readable on
//! light and on dark ground.

use std::fmt::Write as _;

/// One of the small charts, above one another.
pub struct Panel {
    pub title: &'static str,
    /// The greatest value that is shown.
    pub top: f64,
    /// What is drawn: name, colour, whether dashed, and a value for each half year.
    pub curves: Vec<(&'static str, &'static str, bool, Vec<f64>)>,
}

pub const WITH: &str = "#2a9d8f";
pub const WITHOUT: &str = "#e07a3f";

const WIDTH: f64 = 640.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 20.0;
const PANEL: f64 = 190.0;
const PLOT: f64 = 110.0;

pub fn svg(panels: &[Panel], title: &str) -> String {
    let height = 44.0 + PANEL * panels.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\" fill=\"#808080\">\n<title>{title}</title>\n<text x=\"{LEFT}\" y=\"22\" font-size=\"15\">{title}</text>\n"
    );
    for (number, panel) in panels.iter().enumerate() {
        draw(&mut svg, panel, 44.0 + PANEL * number as f64);
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(svg: &mut String, panel: &Panel, top: f64) {
    let ground = top + 30.0 + PLOT;
    let count = panel.curves.iter().map(|curve| curve.3.len()).max().unwrap_or_default().max(1);
    let x = |half_years: f64| LEFT + (WIDTH - LEFT - RIGHT) * half_years / count as f64;
    let y = |value: f64| ground - PLOT * (value / panel.top.max(f64::MIN_POSITIVE)).min(1.0);
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\">{}</text>", top + 12.0, panel.title);
    for step in 0..=2_u32 {
        let value = panel.top * f64::from(step) / 2.0;
        let at = y(value);
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {at:.1}H{:.1}\" stroke=\"#808080\" stroke-opacity=\"0.35\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"end\">{value}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            at + 4.0
        );
    }
    let every = if count > 6 { 2 } else { 1 };
    for half_year in (every..=count).step_by(every) {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x(half_year as f64),
            ground + 16.0,
            half_year as f64 / 2.0
        );
    }
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{:.1}\" text-anchor=\"end\">years</text>", ground + 16.0);
    for (number, (name, colour, dashed, values)) in panel.curves.iter().enumerate() {
        let mut points = String::new();
        for (half_year, value) in values.iter().enumerate() {
            let _ = write!(points, "{:.1},{:.1} ", x(half_year as f64 + 1.0), y(*value));
        }
        let dashes = if *dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        let label = WIDTH - RIGHT - 115.0 * (panel.curves.len() - number) as f64;
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/><text x=\"{label:.1}\" \
             y=\"{:.1}\" fill=\"{colour}\">{name}</text>",
            points.trim_end(),
            top + 26.0
        );
    }
}

/// A round number that is no less: 1, 2 or 5 times a power of ten.
pub fn round_up(value: f64) -> f64 {
    let power = 10_f64.powf(value.max(1.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power).find(|round| *round >= value).unwrap_or(value)
}
