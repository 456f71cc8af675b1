#!/bin/sh
# Makes the pictures of docs/atlas.md again, with the time that each takes.  SALTUS=target/release/saltus docs/atlas/remake.sh [NAME…]
set -eu
saltus=${SALTUS:-saltus}
case $saltus in */*) saltus=$(cd "$(dirname "$saltus")" && pwd)/$(basename "$saltus") ;; esac
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
only=" $* "

# picture NAME DPI COMMAND…
picture() {
    name=$1 dpi=$2
    shift 2
    case $only in "  " | *" $name "*) ;; *) return 0 ;; esac
    begun=$(date +%s.%N)
    (cd "$work" && "$saltus" "$@" --out "$name" --json > "$name.json")
    ended=$(date +%s.%N)
    "$saltus" plot "$work/$name" --dpi "$dpi" --out "$here/$name.png" > /dev/null
    echo "$name: $(echo "$ended - $begun" | bc | cut -c1-5) s, $(wc -c < "$here/$name.png") bytes"
}

picture grazing 150 bifurcation oscillator --set w=0.8 --over A=0.34:0.46:500 --carry both
picture doubling 180 bifurcation ball-table --over G=1.1:1.9:600 --at impacts --exponents
picture hysteresis 130 bifurcation oscillator --set c=0.02 --set A=0.4 --over w=0.74:0.86:700 --carry both
picture coexistence 170 bifurcation oscillator --over w=2.2:3.4:300 --start x=-3:0.5:8 --start "x'=0"
picture periods 170 bifurcation oscillator --over w=0.5:1.1:300 --over A=0.2:1.2:200
picture speeds 170 bifurcation oscillator --over w=0.5:1.5:200 --over e=0.1:0.9:160 --map "max(x')" --transient 100 --periods 40
picture impact-map 180 section oscillator --set w=2.8 --set c=0 --set s=0 --start x=-0.3 --at impacts --periods 300000
picture attractor 170 section oscillator --set w=2.8 --set c=0 --set s=0 --start x=-0.3 --periods 300000
picture basins 170 basins oscillator --set w=5.7 --set A=3.09 --start x=-2:1:600 --start "x'=-3:3:600"
picture fractal 170 basins oscillator --set w=4.5 --set A=6 --start x=-4:1:500 --start "x'=-6:6:500" --refine
picture valve 170 bifurcation valve --over q=0.5:9:700 --at "x':down" --of x --transient 300 --periods 60
picture harvester 130 bifurcation harvester --over f=5:15:400 --at impacts --transient 80 --periods 60
picture capsule 170 bifurcation capsule --over f=8:30:80 --over F=0.06:0.2:50 --transient 40 --periods 20 --map "mean(xc')"
picture pendulum 88 section double-pendulum --set e=1 --start th1=0.2:1:6 --start th2=0 --at "th1':down" --x th1 --y "th2'" --transient 0 --periods 2500
