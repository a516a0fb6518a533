//! The lines of reads in MetaCache's format, compared with those in Kraken's.

use super::world::{World, lines};

/// Returns the layout and the rows of a MetaCache table.
fn table(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let cells = |line: &str| line.split("\t|\t").map(str::to_owned).collect::<Vec<_>>();
    let (comments, rows): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("# "));
    let layout = comments.last().unwrap().strip_prefix("# TABLE_LAYOUT: ").unwrap();
    (cells(layout), rows.into_iter().map(cells).collect())
}

#[test]
fn metacache_tables_say_what_kraken_lines_say() {
    let world = World::built();
    let dir = &world.dir;
    for preset in ["sensitive", "metacache"] {
        dir.run(&format!("build -q --taxonomy tax --preset {preset} -o refs.mgdb genomes")).ok();
        let run = "classify refs.mgdb -q -1 1.fq -2 2.fq";
        let kraken = lines(&dir.run(run).ok());
        let sequences = preset == "metacache";
        let text = dir
            .run(&format!("{run} --format metacache --taxids --queryids --tophits --locations"))
            .ok();
        let (layout, rows) = table(&text);
        let names =
            ["query_id", "query_header", "top_hits", "candidate_locations", "rank:taxname(taxid)"];
        assert_eq!(layout, names);
        assert_eq!(rows.len(), kraken.len());
        for (number, (row, line)) in rows.iter().zip(&kraken).enumerate() {
            let [id, header, hits, places, taxon] = &row[..] else { panic!("{row:?}") };
            assert_eq!((id, header), (&(number + 1).to_string(), &line.id));
            let expected: Vec<String> = line
                .candidates
                .iter()
                .map(|&(taxid, hits)| match taxid {
                    _ if !sequences => format!("{taxid}:{hits}"),
                    13 => format!("a.1|kraken:taxid|13:{hits}"),
                    12 => format!("b.1|kraken:taxid|12:{hits}"),
                    _ => format!("c.1|kraken:taxid|21:{hits}"),
                })
                .collect();
            assert_eq!(hits, &expected.join(","));
            assert_eq!(places.split_whitespace().count(), line.candidates.len());
            for place in places.split_whitespace() {
                let (begin, end) = place.trim_matches(['[', ']']).split_once(',').unwrap();
                let (begin, end) = (begin.parse::<u32>().unwrap(), end.parse::<u32>().unwrap());
                assert!(begin < end && end <= 30_000, "{place}");
            }
            match line.taxid {
                0 => assert_eq!(taxon, "--"),
                taxid => assert!(taxon.ends_with(&format!("({taxid})")), "{taxon}"),
            }
        }
        assert!(rows.iter().any(|row| row[4].starts_with("sequence:")) == sequences);
    }
}

#[test]
fn every_layout_of_a_metacache_table() {
    let world = World::built();
    let dir = &world.dir;
    let read = String::from_utf8_lossy(&world.genomes[2][500..700]).into_owned();
    dir.write("r.fa", format!(">r1 a comment\n{read}\n>r2\nACGT\n"));
    let rows = |options: &str| {
        let text =
            dir.run(&format!("classify refs.mgdb r.fa -q --format metacache {options}")).ok();
        text.lines()
            .filter(|line| !line.starts_with("# ") || line.contains("LAYOUT"))
            .fold(String::new(), |all, line| all + line + "\n")
    };
    let salmonella = "Salmonella enterica";
    assert_eq!(
        rows(""),
        format!(
            "# TABLE_LAYOUT: query_header\t|\trank:taxname\nr1\t|\tspecies:{salmonella}\nr2\t|\t--\n"
        )
    );
    assert_eq!(
        rows("--taxids-only"),
        "# TABLE_LAYOUT: query_header\t|\trank:taxid\nr1\t|\tspecies:21\nr2\t|\t0\n"
    );
    assert_eq!(
        rows("--omit-ranks --mapped-only"),
        format!("# TABLE_LAYOUT: query_header\t|\ttaxname\nr1\t|\t{salmonella}\n")
    );
    assert_eq!(
        rows("--separate-cols --taxids --separator \\t"),
        format!(
            "# TABLE_LAYOUT: query_header\trank\ttaxname\ttaxid\nr1\tspecies\t{salmonella}\t21\n\
             r2\t--\t--\t--\n"
        )
    );
    // Every rank has a column, also without a taxon, as with MetaCache's `show_lineage`.
    assert_eq!(
        rows("--lineage --taxids-only --highest order"),
        "# TABLE_LAYOUT: query_header\t|\tspecies:taxid,subgenus:taxid,genus:taxid,subtribe:taxid,\
         tribe:taxid,subfamily:taxid,family:taxid,suborder:taxid,order:taxid\n\
         r1\t|\tspecies:21,subgenus:0,genus:20,subtribe:0,tribe:0,subfamily:0,family:6,suborder:0,\
         order:5\nr2\t|\t0\n"
    );
    let beside = rows("--lineage --taxids");
    let cells: Vec<&str> =
        beside.lines().nth(1).unwrap().split("\t|\t").nth(1).unwrap().split(',').collect();
    assert_eq!(
        (cells.len(), cells[0], cells[1], cells[15]),
        (16, "species:Salmonella enterica(21)", "subgenus:--(0)", "domain:Bacteria(2)")
    );
    let names = rows("--lineage --omit-ranks --highest genus");
    assert_eq!(
        names,
        format!(
            "# TABLE_LAYOUT: query_header\t|\ttaxname,taxname,taxname\n\
             r1\t|\t{salmonella},--,Salmonella\nr2\t|\t--\n"
        )
    );
    let all = rows("--allhits");
    let hits = all.lines().nth(1).unwrap().split("\t|\t").nth(1).unwrap();
    let mut sum = 0;
    for hit in hits.trim_end_matches(',').split(',') {
        let (place, count) = hit.rsplit_once(':').unwrap();
        assert!(place.starts_with("c.1|kraken:taxid|21/"), "{hit}");
        sum += count.parse::<u32>().unwrap();
    }
    assert_eq!(sum, lines(&dir.run("classify refs.mgdb r.fa -q").ok())[0].candidates[0].1);
    assert!(rows("--comment %").starts_with("r1\t|\t") || rows("--comment %").contains("%TABLE"));
    let usage = dir.run("classify refs.mgdb r.fa --tophits").fails(2);
    assert!(usage.contains("--tophits requires --format metacache"), "{usage}");
    assert!(
        dir.run("classify refs.mgdb r.fa -q --use-names")
            .ok()
            .starts_with("C\tr1\tSalmonella enterica (taxid 21)\t200\t21:")
    );
}
