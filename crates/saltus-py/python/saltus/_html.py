"""What a notebook shows of a run: its summary, and a figure to zoom in, in a frame of its own that asks for nothing from outside."""

from __future__ import annotations

from html import escape
from json import dumps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._run import Run

#: Curves are thinned to so many columns, each with its first, least, largest and last value.
COLUMNS = 600
#: So many curves at most.
CURVES = 4

PAGE = """<!doctype html><meta charset="utf-8"><style>
body{margin:0;font:13px sans-serif;color:#222;background:#fff}svg{width:100%;height:230px;display:block;cursor:crosshair}
select{font:inherit}#r{float:right;font-variant-numeric:tabular-nums}</style>
<div><select id="s"></select> <span id="r">wheel: zoom, drag: move, double click: all</span></div><svg id="f"></svg><script>
const D=__DATA__,f=document.getElementById('f'),s=document.getElementById('s'),r=document.getElementById('r'),W=800,H=230,L=58,B=22,N='http://www.w3.org/2000/svg';
D.c.forEach((c,k)=>s.add(new Option(c.n,k)));f.setAttribute('viewBox',`0 0 ${W} ${H}`);f.setAttribute('preserveAspectRatio','none');
let x0,x1,c;const near=(t)=>{let a=0,b=c.t.length-1;while(b-a>1){const m=(a+b)>>1;c.t[m]<=t?a=m:b=m}return t-c.t[a]<c.t[b]-t?a:b};
const el=(n,a,t)=>{const e=document.createElementNS(N,n);for(const k in a)e.setAttribute(k,a[k]);if(t!==undefined)e.textContent=t;f.appendChild(e);return e};
const step=(w)=>{const p=10**Math.floor(Math.log10(w/5));return[1,2,5,10].map(k=>k*p).find(k=>w/k<=6)||p*10};
function draw(){f.replaceChildren();let lo=1/0,hi=-1/0;c.t.forEach((t,k)=>{if(t>=x0&&t<=x1){lo=Math.min(lo,c.y[k]);hi=Math.max(hi,c.y[k])}});
if(!(hi>=lo)){lo=0;hi=1}const m=(hi-lo||1)*.06;lo-=m;hi+=m;const X=t=>L+(t-x0)/(x1-x0)*(W-L-8),Y=y=>6+(hi-y)/(hi-lo)*(H-B-6);
for(let u=step(hi-lo),y=Math.ceil(lo/u)*u;y<=hi;y+=u){el('line',{x1:L,x2:W-8,y1:Y(y),y2:Y(y),stroke:'#eee'});el('text',{x:L-6,y:Y(y)+4,'text-anchor':'end','font-size':11},+y.toPrecision(6))}
for(let u=step(x1-x0),x=Math.ceil(x0/u)*u;x<=x1;x+=u){el('line',{x1:X(x),x2:X(x),y1:6,y2:H-B,stroke:'#eee'});el('text',{x:X(x),y:H-6,'text-anchor':'middle','font-size':11},+x.toPrecision(6))}
let p='',on=false;c.t.forEach((t,k)=>{const i=(c.t[k+1]??t)>=x0&&(c.t[k-1]??t)<=x1;if(i){p+=(on?'L':'M')+X(t).toFixed(1)+' '+Y(c.y[k]).toFixed(1)}on=i});
el('path',{d:p,fill:'none',stroke:'#1f6fb4','stroke-width':1.2,'vector-effect':'non-scaling-stroke'});
D.i.forEach(t=>{if(t>=x0&&t<=x1)el('line',{x1:X(t),x2:X(t),y1:H-B-6,y2:H-B,stroke:'#b4331f','stroke-width':.8})})}
function all(){c=D.c[s.value];x0=c.t[0];x1=c.t[c.t.length-1];if(!(x1>x0))x1=x0+1;draw()}
const at=e=>{const b=f.getBoundingClientRect();return x0+((e.clientX-b.left)/b.width*W-L)/(W-L-8)*(x1-x0)};
f.onwheel=e=>{e.preventDefault();const t=at(e),k=e.deltaY>0?1.25:.8;x0=t+(x0-t)*k;x1=t+(x1-t)*k;draw()};
let g=null;f.onmousedown=e=>{g=at(e)};window.onmouseup=()=>{g=null};f.ondblclick=all;
f.onmousemove=e=>{const t=at(e);if(g!==null){x0+=g-t;x1+=g-t;draw()}else{const k=near(t);r.textContent=`t = ${+c.t[k].toPrecision(7)}   ${c.n} = ${+c.y[k].toPrecision(7)}`}};
s.onchange=all;all();</script>"""


def thinned(t: NDArray[np.float64], y: NDArray[np.float64]) -> dict[str, Any]:
    """A curve of a few thousand points that looks the same: no extremum is lost."""
    import numpy as np

    n = len(t)
    keep = np.arange(n)
    if n > 4 * COLUMNS:
        edges = np.linspace(0, n, COLUMNS + 1).astype(int)
        parts = [
            {a, b - 1, a + int(np.argmin(y[a:b])), a + int(np.argmax(y[a:b]))} for a, b in zip(edges[:-1], edges[1:]) if b > a
        ]
        keep = np.array(sorted(set().union(*parts)))
    return {"t": [float(f"{x:.9g}") for x in t[keep]], "y": [float(f"{x:.7g}") for x in y[keep]]}


def figure(run: Run) -> str:
    """The figure, as a frame."""
    names = run.coordinates[:CURVES]
    wanted = [*names, *(f"{name}'" for name in names), *run.states[:CURVES]]
    curves = [{"n": name, **thinned(*run._curve(name))} for name in wanted]
    hits = run.impacts["t"][:2000]
    data = dumps({"c": curves, "i": [float(f"{t:.9g}") for t in hits]}).replace("</", "<\\/")
    page = PAGE.replace("__DATA__", data)
    return f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" style="width:100%;height:265px;border:0"></iframe>'


def shown(x: float | None, digits: int = 6) -> str:
    """A number; JSON has none that is not finite."""
    return "not finite" if x is None else f"{x:.{digits}g}"


def of_run(run: Run) -> str:
    """The summary and the figure of a run."""
    summary = run.summary
    audit, ledger = summary["audit"], summary["ledger"]
    tolerance, step = summary.get("tolerance"), summary["step"]
    energies = f"{shown(audit['energy_start'])} → {shown(audit['energy_end'])}"
    rows = [
        ("ended", f"{run.status}: {run.message}" if run.status != "finished" else f"finished at t = {run.t[-1]:g}"),
        ("scheme", f"{summary['scheme']}, " + (f"tolerance {shown(tolerance)}" if tolerance else f"h = {shown(step)}")),
        ("impacts", f"{summary['impacts']['count']}, contacts {summary['contacts']['count']}"),
        ("largest violation", shown(audit["max_violation"], 3)),
        ("energy", f"{energies}, residual of the account {shown(ledger['relative_closure'], 2)}"),
        ("computed in", f"{shown(run.seconds * 1e3, 3)} ms, {summary['steps']} steps"),
        *(("warning", text) for text in run.warnings),
    ]
    table = "".join(f"<tr><th style='text-align:left'>{escape(a)}</th><td style='text-align:left'>{escape(b)}</td></tr>" for a, b in rows)
    return f"<div><b>{escape(run.model.title)}</b><table>{table}</table>{figure(run)}</div>"
