#!/bin/sh
# Fills a folder with the repositories whose data tests/peers reads, each at the commit that the expectations are of:
#   tests/peers/fetch.sh FOLDER && MERGANSER_PEERS_DATA=FOLDER cargo test --workspace --test peers -- --nocapture
set -eu
folder=${1:?usage: fetch.sh FOLDER}
mkdir -p "$folder"
cd "$folder"
while read -r name repository commit; do
    [ -d "$name" ] && continue
    git init -q "$name"
    git -C "$name" remote add origin "https://github.com/$repository"
    git -C "$name" fetch -q --depth 1 origin "$commit"
    git -C "$name" -c advice.detachedHead=false checkout -q FETCH_HEAD
done <<'END'
genomescope schatzlab/genomescope b72debd8505f208813187c7e6664a3bad55f7b9f
seqan seqan/seqan 64fc94d9ba3bcf3b26de008d312dc564f2377965
edlib Martinsos/edlib 0ddc23ea06abd95ab6227442acb4c27bd7607b68
Bracken jenniferlu717/Bracken 05d695c5a8c09849c7144fa2ba9cbac81af0e166
KrakenTools jenniferlu717/KrakenTools 3199bea2b4768b2bb435f04483f5af3d8e51d4ae
MultiQC-test-data MultiQC/test-data 84dc905e6edb97668b87660896dfd78f175008ca
hts-specs samtools/hts-specs c101c797106d8a1006b9b06f75e8bcc6062cf81e
htslib samtools/htslib cb88c90b4620bf4c910b9c3b60e9738c48b09ddb
sassy RagnarGrootKoerkamp/sassy 9ee854ef76b2dc3acb05a9538ac1c4c15c9128d6
MERQURY.FK thegenemyers/MERQURY.FK 2ebdeb6a990f87edf2439acc353bba0cd34b07c7
END
