"""Tests report pages in a browser: every chart is drawn, controls work, nothing is fetched, and names are never executed.

Requires pytest, selenium, Chromium and its driver, and the program (MERGANSER, by default target/release/merganser). Accessibility is
checked with axe-core if it is installed in crates/report/web/node_modules.

    pytest tests/browser [--shots FOLDER]
"""

import base64
import json
import os
import random
import shutil
import subprocess
import time
import xml.dom.minidom
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("MERGANSER", str(ROOT / "target/release/merganser"))
AXE = ROOT / "crates/report/web/node_modules/axe-core/axe.min.js"
HOSTILE = [
    "</script><script>document.title='run'</script>",
    "<img src=x onerror=\"document.title='run'\">",
    "\"'`\\ {{b}} ${c} %s",
    "\u202eright to left\u202c \u0000\u0007",
    "long" * 2500,
]
RANKS = ["D", "P", "C", "O", "F", "G", "S"]

selenium = pytest.importorskip("selenium", reason="selenium is not installed")
if not shutil.which("chromedriver"):
    pytest.skip("Chromium's driver is not installed", allow_module_level=True)


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for flag in ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,1000", "--disable-dev-shm-usage"]:
        options.add_argument(flag)
    # Offline: every request fails and is logged.
    options.add_argument("--proxy-server=127.0.0.1:1")
    downloads = tmp_path_factory.mktemp("downloads")
    many = "profile.default_content_setting_values.automatic_downloads"
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads), many: 1})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options)
    driver.downloads = downloads
    yield driver
    driver.quit()


def run(*args, **kinds):
    return subprocess.run([PROGRAM, *map(str, args)], check=True, capture_output=True, timeout=120, **kinds)


def frame(sample, command="classify", **parts):
    return {
        "format": 1,
        "version": "0.2.0",
        "command": command,
        "sample": sample,
        "inputs": [f"{sample[:100]}.fq.gz"],
        "parameters": [["k", "21"]],
        "warnings": [],
        **parts,
    }


def taxa(number, seed=1, names=None):
    """Returns a random tree of taxa down to species, with reads."""
    pick = random.Random(seed)
    rows = [{"d": 0, "r": "R", "t": 1, "n": "root", "c": 0, "o": 0, "k": 0, "u": 0}]
    depth = 0
    for taxid in range(2, number + 1):
        depth = 1 if depth == 0 else min(depth + 1, 7) if pick.random() < 0.7 else pick.randint(max(1, depth - 2), depth)
        own = int(pick.paretovariate(0.7)) if depth > 5 else 0
        name = pick.choice(names) if names else f"{RANKS[depth - 1]} taxon {taxid}"
        rows.append({"d": depth, "r": RANKS[depth - 1], "t": taxid, "n": name, "o": own, "k": 90 * own, "u": min(90 * own, 5000), "a": 0.0})
    for row in rows:
        row["c"] = row["o"]
    above = []
    for index, row in enumerate(rows):
        del above[row["d"] :]
        for at in above:
            rows[at]["c"] += row["o"]
        above.append(index)
    reads = rows[0]["c"] + 17
    return {"reads": reads, "unclassified": 17, "rows": rows}


def spectrum(k=21, coverage=30.0, model=True, seed=1):
    import math

    pick = random.Random(seed)
    peak = lambda count, at: math.exp(-((count - at) ** 2) / (2 * at))
    expected = [0.0] + [round(2e4 * peak(count, coverage) + 1e5 * peak(count, 2 * coverage), 1) for count in range(1, 150)]
    rows = [[count, int(8e5 * math.exp(-count) + expected[count] * pick.uniform(0.97, 1.03))] for count in range(1, 150)]
    fitted = {
        "ploidy": 2,
        "coverage": coverage,
        "genome_size": 4.6e6,
        "unique_size": 4.4e6,
        "heterozygosity": 0.0123,
        "duplication": 0.01,
        "error_rate": 0.004,
        "explained": 0.98,
        "from": 8,
        "expected": expected,
    }
    return {"k": k, "rows": [row for row in rows if row[1] > 0], "model": fitted if model else None}


def assembly(names=("one", "two", "both"), parents=("mother", "father")):
    classes = [{"name": name, "rows": spectrum(coverage=10.0 + 8 * at)["rows"]} for at, name in enumerate(["read-only", "1", "2", ">4"])]
    pick = random.Random(3)
    return {
        "k": 21,
        "judged": [
            {"name": name, "kmers": 1000000, "only": 50 * at, "quality": 40.0 + at if at else None, "error_rate": 1e-5 * at, "completeness": 0.98, "sequences": [{"n": f"contig {part}", "k": 900, "o": part % 3, "q": 30.5 if part % 3 else None} for part in range(40)]}
            for at, name in enumerate(names)
        ],
        "spectra": [{"title": f"{names[0]}.spectra-cn", "classes": classes, "only": [500, 40], "solid": 5}],
        "haplotypes": {
            "parents": list(parents),
            "contigs": [[at % 2, pick.randint(0, 5000), pick.randint(0, 300), 90000 + at] for at in range(40)],
            "blocks": [[at % 2, pick.randint(1000, 900000), at % 2] for at in range(60)],
        },
    }


def mapping(contig="chr1"):
    return {
        "reads": 1000,
        "mapped": 900,
        "hits": [[0, 100], [1, 800], [2, 60], [700, 40]],
        "edits": [[0, 700], [1, 150], [5, 50]],
        "inserts": [[size, 1 + abs(size * 7919 % 13)] for size in range(150, 450)],
        "pairs": 400,
        "qualities": [[0, 50], [30, 50], [60, 800]],
        "window": 1000,
        "contigs": [
            {"n": f"{contig}{at}", "l": 100000 * (at + 1), "r": 100 * at, "b": 15000 * at, **({"w": [7 * step % 900 for step in range(100 * (at + 1))]} if at > 65 else {})}
            for at in range(70)
        ],
    }


def decisions():
    return {"pairs": 500, "accepted": 300, "undefined": 3, "edits": [[0, 200], [1, 60], [2, 37]], "is_exact": True}


def selection():
    parts = [{"n": "Kept", "r": 700, "b": 70000}, {"n": "Removed by the set", "r": 280, "b": 28000}, {"n": "Removed by the haplotypes", "r": 20, "b": 2000}]
    return {"reads": 1000, "bases": 100000, "parts": parts, "edits": [[4, 12], [5, 30]]}


def search(name="guide"):
    pick = random.Random(5)
    hits = [[int(pick.paretovariate(0.6) * (edits > 0)) + (edits == 0) for edits in range(2 + at % 4)] for at in range(60)]
    return {
        "texts": 3,
        "letters": 1000,
        "edits": [[edits, sum(row[edits] for row in hits if edits < len(row))] for edits in range(5)],
        "patterns": [{"n": f"{name} {at}", "l": "GATTACAGATTACAGATTAC", "h": row} for at, row in enumerate(hits)],
    }


def profile(name="a_1.fq", length=151, step=1, qualities=True):
    """Returns the first reads of an input."""
    pick = random.Random(name)
    groups = -(-length // step)
    letters = [[round(1000 * share + pick.uniform(-9, 9)) for share in (0.29, 0.21, 0.2, 0.29, 0.01)] for _ in range(groups)]
    of_quality = {"qualities": [[round(36 - at / groups * 9, 2), 30 - 5 * at // groups, 37, 38] for at in range(groups)]}
    lengths = [[at * step, 1 + pick.randint(0, 90)] for at in range(groups) if at % 5]
    return {"n": name, "records": 1000, "bases": sum(map(sum, letters)), "is_whole": False, "step": step, "lengths": lengths, "gc": [[percent, 1 + percent * 7 % 40] for percent in range(20, 70)], "letters": letters, **(of_quality if qualities else {})}


def database(minimizers=False, number=300, seed=1, names=None):
    """Returns the contents of a database."""
    rows = [{key: row[key] for key in "drtnco"} for row in taxa(number, seed=seed, names=names)["rows"]]
    common = {"bytes": 8 << 30, "taxa": 2 * number, "stored": rows[0]["c"], "rows": rows}
    if minimizers:
        return {"kind": "Kraken 2", "unit": "minimizers", "cells": 2 * rows[0]["c"], **common}
    for row in rows:
        row["b"] = 2_000_000 * row["c"]
    return {"kind": "Merganser", "unit": "features", "references": rows[0]["c"], "bases": rows[0]["b"], **common}


def everything(name="sample"):
    return [
        frame(name, "count", spectrum=spectrum(), warnings=["the coverage is low"]),
        frame(name, "classify", taxa=taxa(600), reads=[profile(f"{name}_1"), profile(f"{name}_2")]),
        frame(name, "db info", database=database()),
        frame(name, "kmers qv", assembly=assembly()),
        frame(name, "map", mapping=mapping()),
        frame(name, "filter", decisions=decisions()),
        frame(name, "search", search=search(name)),
        frame(name, "deplete filter", selection=selection()),
    ]


@pytest.fixture
def page(tmp_path, driver):
    """Returns a function that opens the page of results and returns the seconds until it was ready."""

    def open_page(results, wait=60):
        file = tmp_path / "results.json"
        file.write_text("".join(json.dumps(result) + "\n" for result in results))
        run("report", "html", file, "-o", tmp_path / "page.html")
        driver.get_log("browser")
        driver.get((tmp_path / "page.html").as_uri())
        end = time.monotonic() + wait
        while not driver.execute_script("return document.documentElement.dataset.ready === 'yes'"):
            said = driver.get_log("browser")
            assert time.monotonic() < end and not said, f"the page is not ready: {said}"
            time.sleep(0.02)
        return driver.execute_script("return performance.now()") / 1000

    return open_page


def is_quiet(driver):
    said = [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    assert not said, said


def canvases(driver):
    """Returns the number of colours in each chart, up to 20."""
    return driver.execute_script(
        """
        return [...document.querySelectorAll('.chart canvas')].map((canvas) => {
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          const colours = new Set();
          for (let at = 0; at < data.length && colours.size < 20; at += 4)
            colours.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
          return colours.size;
        });
        """
    )


def settle(driver):
    """Waits until changes are drawn."""
    driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")


def click(driver, element):
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", element)


def named(driver, label, tag="button"):
    return next(it for it in driver.find_elements("css selector", tag) if (it.get_attribute("aria-label") or it.text).startswith(label))


def downloaded(driver, act, end):
    before = set(driver.downloads.iterdir())
    act()
    for _ in range(200):
        new = [path for path in driver.downloads.iterdir() if path not in before and path.name.endswith(end)]
        if new and new[0].stat().st_size > 0:
            return new[0]
        time.sleep(0.05)
    raise AssertionError(f"no {end} was downloaded: {[it.name for it in driver.downloads.iterdir()]}")


def violations(driver):
    if not AXE.exists():
        pytest.skip("axe-core is not installed (npm ci in crates/report/web)")
    driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    driver.execute_script(AXE.read_text())
    found = driver.execute_async_script("axe.run().then(arguments[0])")["violations"]
    serious = [it for it in found if it["impact"] in ("serious", "critical")]
    return [(it["id"], it["nodes"][0]["html"][:200], it["nodes"][0]["failureSummary"]) for it in serious]


def test_every_chart_is_drawn_and_nothing_is_said(page, driver):
    page(everything())
    drawn = canvases(driver)
    assert len(drawn) >= 12 and min(drawn) >= 3, drawn
    is_quiet(driver)


def test_of_real_data(page, driver, tmp_path):
    data = ROOT / "tests/data"
    reads = [data / f"ERR1438863_{mate}.fastq.gz" for mate in (1, 2)]
    strep = data / "streptococcus"
    run("build", "--taxonomy", strep / "taxonomy", "--map", strep / "taxids.tsv", "-o", tmp_path / "s.mgdb", strep)
    run("count", "-k", 21, "--min-count", 1, "-o", tmp_path / "r.mgk", *reads, "--report-data", tmp_path / "c.json")
    pairs = ["-1", reads[0], "-2", reads[1]]
    run("classify", tmp_path / "s.mgdb", *pairs, "-o", tmp_path / "r.tsv", "--report", tmp_path / "r.kreport", "--report-minimizer-data", "--report-data", tmp_path / "t.json")
    genome = strep / "Streptococcus_pneumoniae_NCTC7465.fna.gz"
    run("map", genome, *pairs, "-e", 5, "-o", tmp_path / "r.bam", "--report-data", tmp_path / "m.json")
    run("kmers", "qv", "-o", tmp_path / "q", "--no-plots", tmp_path / "r.mgk", genome, "--report-data", tmp_path / "q.json")
    results = [json.loads((tmp_path / f"{name}.json").read_text()) for name in "ctmq"]
    page(results)
    drawn = canvases(driver)
    assert len(drawn) >= 8 and min(drawn) >= 3, drawn
    assert "Streptococcus pneumoniae" in driver.find_element("tag name", "main").text
    is_quiet(driver)


@pytest.mark.parametrize("dark", [False, True])
def test_everybody_can_read_it(page, driver, dark):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    try:
        page(everything() + [frame("other", taxa=taxa(300, seed=2)), frame("third", taxa=taxa(300, seed=3))])
        for details in driver.find_elements("css selector", "details:not([open]) summary"):
            click(driver, details)
        assert driver.execute_script("return document.documentElement.dataset.theme") == ("dark" if dark else "light")
        assert violations(driver) == []
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_themes_and_scales_change(page, driver):
    page(everything())
    background = lambda: driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    picture = lambda: driver.execute_script("return document.querySelector('.chart canvas').toDataURL()")
    light, drawn = background(), picture()
    click(driver, driver.find_element("id", "theme"))
    assert background() != light and picture() != drawn
    drawn = picture()
    click(driver, driver.find_element("css selector", "input[type=checkbox]"))
    assert picture() != drawn
    is_quiet(driver)


def test_bars_of_tables_follow_the_theme(page, driver):
    page([frame("s", taxa=taxa(300)), frame("s", "deplete filter", selection=selection())])
    bars = lambda: driver.execute_script("return [...document.querySelectorAll('td.bar')].map((cell) => cell.style.getPropertyValue('--colour'))")
    before = bars()
    click(driver, driver.find_element("id", "theme"))
    after = bars()
    assert len(before) == len(after) > 6 and all(one != other for one, other in zip(before, after))
    click(driver, driver.find_element("id", "theme"))
    assert bars() == before
    is_quiet(driver)


def test_several_results_have_numbers_at_the_top(page, driver):
    summary = lambda: driver.find_element("css selector", ".headline").text.replace("\n", " ")
    page([frame(name, "kmers qv", assembly=assembly()) for name in "ab"])
    for words in ["Samples 2", "Assemblies 6", "QV 41.0 – 42.0", "2 more without an error", "Completeness 98.0 %"]:
        assert words in summary(), summary()
    page([frame(name, "search", search=search("g")) for name in "ab"])
    hits = 2 * sum(many for _, many in search("g")["edits"])
    for words in ["Samples 2", f"Hits {hits:,}", "Patterns 60", "with hits"]:
        assert words in summary(), summary()
    page([frame(name, "db info", database=database(name == "a")) for name in "ab"])
    assert summary() == "Databases 2"
    is_quiet(driver)


def test_first_reads_of_inputs(page, driver):
    reads = [profile("a_1.fq"), profile("a_2.fq"), profile("a.fa", 90, qualities=False)]
    page([frame("a", taxa=taxa(50), reads=reads), frame("b", "map", mapping=mapping(), reads=[profile("b.fq", 30_000, 100)])])
    section = driver.find_element("css selector", "section[aria-label='First reads of the inputs']")
    titles = lambda: [it.text for it in section.find_elements("css selector", "h3")][1:]
    assert titles() == ["Quality by position, a", "Bases by position, a_1.fq", "Bases by position, a_2.fq", "Bases by position, a.fa", "Lengths of reads, a", "GC of reads, a"]
    first = [it.text for it in section.find_elements("css selector", "tbody tr")[2].find_elements("css selector", "th, td")]
    assert first[:3] == ["a", "a.fa", "first 1,000"] and first[-1] == "–"
    assert "a_1.fq (first 1,000 records)" in section.text
    click(driver, next(it for it in section.find_elements("css selector", "summary")))
    row = [it.text for it in section.find_elements("css selector", "details tbody tr")[0].find_elements("css selector", "th, td")]
    assert row == ["a_1.fq", "1", "36", "30", "37", "38"]
    from selenium.webdriver.support.ui import Select

    Select(section.find_element("css selector", "select")).select_by_visible_text("b")
    assert titles()[:2] == ["Quality by position, b", "Bases by position, b"]
    assert "groups of up to 100 lengths" in section.text
    assert min(canvases(driver)) >= 3
    is_quiet(driver)


def test_databases(page, driver):
    from selenium.webdriver.support.ui import Select

    of = database()
    page([frame("refs.mgdb", "db info", database=of), frame("k2", "db info", database=database(True, seed=2))])
    section = driver.find_element("css selector", "section[aria-label=Databases]")
    title = lambda: section.find_element("css selector", "figure h3").text
    choose = lambda at, text: Select(section.find_elements("css selector", "select")[at]).select_by_visible_text(text)
    assert title() == "Reference sequences by species, refs.mgdb"
    choose(1, "Genus")
    choose(2, "Bases")
    assert title() == "Bases by genus, refs.mgdb"
    click(driver, section.find_element("css selector", "summary"))
    most = max((row for row in of["rows"] if row["r"] == "G"), key=lambda row: row["b"])
    cells = [it.text for it in section.find_elements("css selector", "details tbody tr")[0].find_elements("css selector", "th, td")]
    assert cells == [most["n"], str(most["t"]), f"{most['b']:,}"]
    choose(0, "k2")
    assert title() == "Minimizers by species, k2"
    section.find_element("css selector", "figure.taxa input").send_keys("no such taxon")
    assert "no rows" in section.find_element("css selector", "figure.taxa").text
    page([frame("k2", "db info", database=database(True))])
    assert "50.0 %" in driver.find_element("css selector", ".headline").text
    is_quiet(driver)


def test_paper_takes_vectors(page, driver):
    page(everything() + [frame(f"sample {at}", taxa=taxa(100, seed=at)) for at in range(2, 5)])
    driver.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    time.sleep(0.5)
    widths = driver.execute_script("return [...document.querySelectorAll('img.paper')].map((image) => image.naturalWidth)")
    charts = driver.find_elements("css selector", ".chart")
    assert len(widths) == len(charts) and min(widths) > 400, widths
    assert driver.execute_script("return document.documentElement.dataset.theme") == "light"
    driver.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert driver.find_elements("css selector", "img.paper") == []
    is_quiet(driver)


TEXTS = """
document.body.innerHTML = arguments[0];
const svg = document.querySelector('svg');
const frame = svg.getBoundingClientRect();
const texts = [...svg.querySelectorAll('text')].filter((it) => it.textContent.trim() !== '').map((it) => {
  const { x, y, width, height } = it.getBBox();
  const matrix = it.getScreenCTM();
  // Letters do not fill their line.
  const [side, line] = [Math.min(1, width / 4), height / 7];
  const corners = [[x + side, y + line], [x + width - side, y + line], [x + width - side, y + height - line], [x + side, y + height - line]];
  return { text: it.textContent, corners: corners.map(([a, b]) => { const at = new DOMPoint(a, b).matrixTransform(matrix); return [at.x - frame.x, at.y - frame.y]; }) };
});
const range = (corners, [a, b]) => { const at = corners.map(([x, y]) => a * x + b * y); return [Math.min(...at), Math.max(...at)]; };
const apart = (one, other) => [one, other].some((corners) => [0, 1].some((at) => {
  const normal = [corners[at + 1][1] - corners[at][1], corners[at][0] - corners[at + 1][0]];
  const [a, b] = [range(one, normal), range(other, normal)];
  return a[1] <= b[0] || b[1] <= a[0];
}));
const faults = [];
texts.forEach(({ text, corners }, at) => {
  if (corners.some(([x, y]) => x < -1 || y < -1 || x > frame.width + 1 || y > frame.height + 1)) faults.push(`${text} is cut`);
  for (const other of texts.slice(at + 1)) {
    // Letters along a ring touch each other.
    if ([...text].length + [...other.text].length > 2 && !apart(corners, other.corners)) faults.push(`${text} is over ${other.text}`);
  }
});
return [texts.length, faults];
"""


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("width", [400, 1200])
def test_no_text_of_a_chart_is_cut_or_over_another(page, driver, seed, width):
    pick = random.Random(seed)
    names = ["".join(pick.choice("aeilmnorstuvw") for _ in range(pick.randint(3, 22))).capitalize() + pick.choice(["", " sp. 7", " virus", " strain H1N1"]) for _ in range(400)]
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
    try:
        sizes = [pick.choice([5, 30, 200, 2000]) for _ in range(4)]
        samples = [frame(f"{pick.choice(names)} {at}", taxa=taxa(size, seed=10 * seed + at, names=names)) for at, size in enumerate(sizes)]
        page(everything(pick.choice(names)) + samples)
        pictures = driver.execute_script(
            """
            window.dispatchEvent(new Event('beforeprint'));
            return [...document.querySelectorAll('img.paper')].map((image) => [
              image.closest('figure').querySelector('h3').textContent, decodeURIComponent(image.src.slice(image.src.indexOf(',') + 1))]);
            """
        )
        driver.get("about:blank")
        assert len(pictures) > 12
        for title, svg in pictures:
            texts, faults = driver.execute_script(TEXTS, svg)
            assert texts > 2, title
            assert faults == [], title
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_taxon_has_one_colour_and_neighbours_differ(page, driver):
    """The sunburst's colours, by the names in its tooltips' order, differ between a part and the next one of its ring."""
    page([frame("a", taxa=taxa(200, seed=4)), frame("b", taxa=taxa(200, seed=4))])
    bars = lambda: driver.execute_script(
        "return [...document.querySelectorAll('figure.taxa td.bar')].map((cell) => [cell.parentNode.firstChild.textContent, cell.style.getPropertyValue('--colour')])"
    )
    first = dict(bars())
    assert first["Unclassified"] == "#b3bac2"
    click(driver, named(driver, "Reads of its own"))
    from selenium.webdriver.support.ui import Select

    Select(driver.find_element("css selector", "section[aria-label=Taxa] select")).select_by_value("1")
    assert dict(bars()) == first
    rows = [row for row in taxa(200, seed=4)["rows"] if row["n"] in first]
    for one, other in zip(rows, rows[1:]):
        if one["r"] == other["r"] or other["d"] == one["d"] + 1:
            assert one["c"] == 0 or other["c"] == 0 or first[one["n"]] != first[other["n"]], (one, other)


def test_pages_begin_with_numbers_and_contents(page, driver):
    results = everything()
    results[1]["notes"] = ["the database is small"]
    page(results)
    sections = driver.execute_script("return [...document.querySelectorAll('main > :not(noscript)')].map((it) => it.getAttribute('aria-label'))")
    assert sections[:4] == ["Summary", "Warnings", "Contents", "k-mer spectrum"] and "Notes" in sections
    yellow = driver.find_element("css selector", ".warnings").text
    assert "the coverage is low" in yellow and "the database is small" not in yellow
    for link in driver.find_elements("css selector", "nav a"):
        assert driver.find_elements("id", link.get_attribute("href").split("#")[1]), link.text
    # The contents list follows the charts.
    page([frame("s", taxa=taxa(300))])
    links = lambda: [it.text for it in driver.find_elements("css selector", "nav a")]
    assert links()[:2] == ["Taxa", "Sunburst of s"]
    assert "Unclassified" in driver.find_element("css selector", ".headline").text
    page([frame("s", "count", spectrum=spectrum())])
    summary = driver.find_element("css selector", ".headline").text
    for words in ["4.60 Mb", "1.230 %", "30.0×"]:
        assert words in summary, summary
    numbers = driver.find_element("css selector", ".numbers").text
    assert "len: 4,600,000 bp" in numbers and "ab: 1.230 %" in numbers and "kcov: 30.0" in numbers


def test_tables_sort_and_filter(page, driver):
    page([frame("s", taxa=taxa(2000))])
    whole = driver.find_element("css selector", "figure.taxa")
    column = lambda at: [it.text for it in whole.find_elements("css selector", f"tbody tr > :nth-child({at})")]
    status = lambda: whole.find_element("css selector", "[role=status]").text
    assert status() == "1 to 25 of 2,001"  # with the unclassified reads
    reads = next(it for it in whole.find_elements("css selector", "th button") if it.text == "Reads of its own")
    click(driver, reads)
    own = [int(text.replace(",", "")) for text in column(6)]
    assert own == sorted(own, reverse=True) and own[0] > own[-1]
    click(driver, next(it for it in whole.find_elements("css selector", "button") if it.text == "Next"))
    assert status().startswith("26 to 50")
    search = whole.find_element("css selector", "input")
    search.send_keys("taxon 77")
    assert all("taxon 77" in text for text in column(1)) and column(1)
    file = downloaded(driver, lambda: click(driver, named(driver, "TSV: All taxa")), ".tsv")
    rows = file.read_text().splitlines()
    assert len(rows) == 1 + int(status().split()[-1].replace(",", ""))
    search.clear()
    search.send_keys("x")
    search.send_keys("\b")
    from selenium.webdriver.support.ui import Select

    Select(whole.find_element("css selector", "select")).select_by_value("G")
    assert set(column(3)) == {"Genus"}
    is_quiet(driver)


def clade(rows, at):
    """Returns the index after the last row of the clade at a row."""
    return next((index for index in range(at + 1, len(rows)) if rows[index]["d"] <= rows[at]["d"]), len(rows))


def test_search_goes_into_a_taxon(page, driver):
    sample = taxa(3000)
    page([frame("s", taxa=sample)])
    rows = sample["rows"]
    group = driver.find_element("css selector", "[role=group][aria-label='Taxon of the charts']")
    told = lambda: group.find_element("css selector", "[role=status]").text
    titles = lambda: [it.text for it in driver.find_elements("css selector", "figure h3")][:2]
    picture = lambda at: driver.execute_script("return document.querySelectorAll('.chart canvas')[arguments[0]].toDataURL()", at)
    button = lambda name: next(it for it in group.find_elements("css selector", "button") if it.text == name)
    before = [picture(0), picture(1)]
    assert told() == "All reads" and not button("Up").is_enabled()
    # A small family with taxa below it, which the first charts do not show.
    family = min((at for at, row in enumerate(rows) if row["r"] == "F" and row["c"] > 3 and clade(rows, at) > at + 3), key=lambda at: rows[at]["c"])
    box = group.find_element("css selector", "input[type=search]")
    box.send_keys(str(rows[family]["t"]))
    click(driver, button("Go to"))
    name = rows[family]["n"]
    assert titles() == [f"Sunburst of {name} in s", f"Flows of {name} in s"]
    assert f"{name}: {rows[family]['c']:,} reads" in told() and told().startswith("D taxon")
    assert picture(0) != before[0]
    drawn = xml.dom.minidom.parse(str(downloaded(driver, lambda: click(driver, named(driver, "SVG: Sunburst")), ".svg")))
    assert name not in [row["n"] for row in rows[:family]] and len(drawn.getElementsByTagName("path")) > 3
    click(driver, button("Up"))
    assert " in s" in titles()[0] and name not in titles()[0]
    click(driver, button("All"))
    assert told() == "All reads" and [picture(0), picture(1)] == before
    box.clear()
    box.send_keys("no such taxon")
    click(driver, button("Go to"))
    assert told() == "No taxon with reads has that name." and [picture(0), picture(1)] == before
    is_quiet(driver)


def test_clicks_go_into_taxa(page, driver):
    from selenium.webdriver import ActionChains

    page([frame("s", taxa=taxa(300))])
    title = lambda: driver.find_element("css selector", "figure h3").text
    place = lambda: driver.find_element("css selector", ".chart")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", place())
    # Click the first ring, which shows domains, then the centre, which goes up again.
    ActionChains(driver).move_to_element_with_offset(place(), 32, -32).click().perform()
    assert title().startswith("Sunburst of D taxon")
    ActionChains(driver).move_to_element(place()).click().perform()
    assert title() == "Sunburst of s"
    is_quiet(driver)


def test_ranks_in_any_order(page, driver):
    """Ranks in an impossible order must not make cycles in the flow chart."""
    rows = [{"d": at, "r": rank, "t": at + 1, "n": f"taxon {at}", "c": 9, "o": 0} for at, rank in enumerate("RSGSGDS")]
    rows.append({"d": 4000000000, "r": "G", "t": 99, "n": "others", "c": 9, "o": 9})
    page([frame("s", taxa={"reads": 9, "unclassified": 0, "rows": rows})])
    assert min(canvases(driver)) >= 3
    is_quiet(driver)


def test_long_histograms(page, driver):
    rows = [[count, 1 + 10**9 // count**2] for count in range(1, 300000)]
    of = assembly()
    of["spectra"] = [{"title": "long", "classes": [{"name": "1", "rows": rows}, {"name": "2", "rows": rows}], "only": [1, 2], "solid": 3}]
    page([frame("s", "count", spectrum={"k": 21, "rows": rows, "model": None}), frame("s", "kmers qv", assembly=of)])
    assert min(canvases(driver)) >= 3
    is_quiet(driver)


def test_zoom(page, driver):
    page([frame("s", "count", spectrum=spectrum())])
    from selenium.webdriver import ActionChains

    place = driver.find_element("css selector", ".chart")
    picture = lambda: driver.execute_script("return document.querySelector('.chart canvas').toDataURL()")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", place)
    before = picture()
    width, height = place.size["width"], place.size["height"]
    # Move the right handle of the slider to the left.
    ActionChains(driver).move_to_element_with_offset(place, width // 2 - 21, height // 2 - 17).click_and_hold().move_by_offset(-400, 0).release().perform()
    time.sleep(0.3)
    assert picture() != before
    is_quiet(driver)


def test_zoom_by_keyboard(page, driver):
    from selenium.webdriver.common.keys import Keys

    page([frame("s", "count", spectrum=spectrum())])
    picture = lambda: driver.execute_script("return document.querySelector('.chart canvas').toDataURL()")
    pictures = [picture()]
    for label in ["Zoom in: ", "Move right: ", "Zoom in: ", "Move left: "]:
        named(driver, label).send_keys(Keys.ENTER)
        settle(driver)
        pictures.append(picture())
    assert len(set(pictures)) == len(pictures)
    for _ in range(3):
        named(driver, "Zoom out: ").send_keys(Keys.ENTER)
    settle(driver)
    assert picture() == pictures[0]
    is_quiet(driver)


def test_print(page, driver):
    """On the event before printing, runs are unfolded and the background is white."""
    results = [frame(f"sample {at}", taxa=taxa(300, seed=at)) for at in range(5)]
    page(results)
    click(driver, driver.find_element("id", "theme"))
    theme = driver.execute_script("return document.documentElement.dataset.theme")
    state = "return [document.documentElement.dataset.theme, document.querySelectorAll('details.run:not([open])').length]"
    driver.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert driver.execute_script(state) == ["light", 0]
    driver.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert driver.execute_script(state) == [theme, 5]
    before = canvases(driver)
    assert driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    assert driver.execute_script(state) == [theme, 5] and canvases(driver) == before


@pytest.mark.parametrize("width", [400, 740])
def test_narrow_pages_are_not_cut(page, driver, width):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
    try:
        page(everything() + [frame("other", taxa=taxa(300, seed=2)), frame("third", taxa=taxa(300, seed=3))])
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        # Text wraps at words, not at letters.
        heights = driver.execute_script("return [...document.querySelectorAll('tbody tr')].map((row) => row.getBoundingClientRect().height)")
        assert max(heights) < 100
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_downloads_of_charts(page, driver):
    page(everything())
    for button in driver.find_elements("css selector", "figure button"):
        # The browser drops downloads that follow each other too quickly.
        time.sleep(0.15)
        label = button.get_attribute("aria-label") or ""
        if label.startswith("SVG: "):
            file = downloaded(driver, lambda: click(driver, button), ".svg")
            drawing = xml.dom.minidom.parse(str(file)).documentElement
            assert drawing.tagName == "svg" and len(drawing.getElementsByTagName("path")) > 2, label
        elif label.startswith("PNG: "):
            file = downloaded(driver, lambda: click(driver, button), ".png")
            assert file.read_bytes().startswith(b"\x89PNG") and file.stat().st_size > 5000, label
    is_quiet(driver)


def test_hostile_names(page, driver):
    results = []
    for name in HOSTILE:
        results.append(frame(name, name, taxa=taxa(300, names=HOSTILE), warnings=[name], parameters=[[name, name]]))
        results.append(frame(name, "count", spectrum=spectrum()))
        results.append(frame(name, "map", mapping=mapping(name), reads=[profile(name), profile(name, 9000, 50)]))
        results.append(frame(name, "db info", database=database(names=HOSTILE)))
    results.append(frame("a", assembly=assembly(HOSTILE[:3], HOSTILE[:2])))
    page(results)
    for details in driver.find_elements("css selector", "details:not([open]) summary"):
        click(driver, details)
    assert driver.title != "run"
    assert driver.execute_script("return document.querySelectorAll('img, script:not([type]):not(:last-of-type)').length") == 0
    assert min(canvases(driver)) >= 3
    # No name makes the page wider than the window.
    assert driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth") <= 0
    is_quiet(driver)


def test_little_and_nothing(page, driver):
    empty = {"reads": 0, "unclassified": 0, "rows": []}
    none = {"reads": 5, "unclassified": 5, "rows": []}
    nowhere = {"reads": 0, "mapped": 0, "hits": [], "edits": [], "inserts": [], "contigs": []}
    page(
        [
            frame("a", taxa=empty),
            frame("b", taxa=none),
            frame("c", "count", spectrum={"k": 21, "rows": [], "model": None}),
            frame("d", "map", mapping=nowhere),
            frame("f", "search", search={"texts": 0, "letters": 0, "edits": [], "patterns": []}),
            frame("g", "count", reads=[{**profile(), "records": 0, "bases": 0, "lengths": [], "gc": [], "letters": [], "qualities": []}]),
            frame("h", "count", reads=[{**profile(length=1), "lengths": [[1, 1000]]}]),
            frame("i", "db info", database={**database(True), "stored": 0, "rows": []}),
            frame("e", "filter", decisions={"pairs": 0, "accepted": 0, "undefined": 0, "edits": [], "is_exact": True}),
        ]
    )
    text = driver.find_element("tag name", "main").text
    for words in ["There are no reads.", "There are no k-mers", "There are no pairs to show."]:
        assert words in text
    is_quiet(driver)
    page([frame("a", "count", spectrum={"k": 21, "rows": [[1, 1]], "model": None})])
    assert min(canvases(driver)) >= 3
    is_quiet(driver)


def test_hits_of_patterns_are_coloured_by_their_number(page, driver):
    page([frame("a", "search", search=search())])
    hottest = """
        return [...document.querySelectorAll('tbody tr')].map((row) => {
          const cell = row.querySelectorAll('td.heat')[arguments[0]];
          return [cell.textContent, getComputedStyle(cell).backgroundColor, cell.style.getPropertyValue('--heat')];
        });
        """
    click(driver, named(driver, "All hits"))
    cells = driver.execute_script(hottest, 5)
    counts = [int(text.replace(",", "")) for text, _, _ in cells]
    assert counts == sorted(counts, reverse=True) and len(cells) == 25
    strengths = [float(heat.rstrip("%")) for _, _, heat in cells]
    assert strengths == sorted(strengths, reverse=True) and strengths[0] == 40.0
    assert cells[0][1] != cells[-1][1]
    # A pattern that may have fewer edits has no number.
    click(driver, named(driver, "4 edits"))
    click(driver, named(driver, "0 edits"))
    assert "–" in [text for text, _, _ in driver.execute_script(hottest, 4)]
    is_quiet(driver)


def test_a_million_taxa_are_no_more_elements_than_twenty_thousand(page, driver):
    elements = {}
    for number in [20_000, 1_000_000]:
        seconds = page([frame("s", taxa=taxa(number))], wait=120)
        print(f"{number:,} taxa: {seconds:.2f} s")
        whole = driver.find_element("css selector", "figure.taxa")
        assert whole.find_element("css selector", "[role=status]").text == f"1 to 25 of {number + 1:,}"
        elements[number] = driver.execute_script("return document.querySelectorAll('*').length")
        is_quiet(driver)
    # There are 25 rows, and a canvas for each chart: the time is spent on reading, not on drawing.
    assert elements[1_000_000] == elements[20_000] < 1000, elements


def test_a_hundred_samples(page, driver):
    page([frame(f"sample {at}", taxa=taxa(400, seed=at % 9)) for at in range(100)] + [frame(f"s{at}", "count", spectrum=spectrum(seed=at)) for at in range(100)])
    assert min(canvases(driver)) >= 3
    from selenium.webdriver.support.ui import Select

    title = lambda: driver.find_element("css selector", "section[aria-label=Taxa] figure h3").text
    assert title() == "Sunburst of sample 0"
    Select(driver.find_element("css selector", "section[aria-label=Taxa] select")).select_by_value("42")
    assert title() == "Sunburst of sample 42"
    # Removed charts are not redrawn with the new theme: ECharts would log a warning.
    click(driver, driver.find_element("id", "theme"))
    settle(driver)
    is_quiet(driver)


def test_without_a_network(page, driver):
    page(everything())
    fetched = driver.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert [name for name in fetched if not name.startswith(("data:", "blob:"))] == []
    policy = driver.execute_script("return document.querySelector('meta[http-equiv]').content")
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy


def test_shots(page, driver, shots):
    """Takes screenshots of the page for inspection, if a folder for them is given."""
    if not shots:
        pytest.skip("no folder for screenshots: --shots FOLDER")
    shots.mkdir(parents=True, exist_ok=True)
    results = everything() + [frame(f"sample {at}", taxa=taxa(300, seed=at)) for at in range(2, 7)]
    for name, width, dark in [("light", 1200, False), ("dark", 1200, True), ("narrow", 400, False)]:
        media = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
        page(results)
        height = driver.execute_script("return document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        (shots / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    page(results)
    printed = driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    (shots / "print.pdf").write_bytes(base64.b64decode(printed["data"]))
