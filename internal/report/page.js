// Shows the values below the pointer in the charts of a run. The page is complete without this script. The script
// runs again when the charts of a live run are replaced.
'use strict';
for (const run of document.querySelectorAll('article.run')) {
  const source = run.querySelector('script.data');
  if (!source) continue;
  const panels = JSON.parse(source.textContent);
  const charts = [...run.querySelectorAll('.over-time svg')];
  const cursors = charts.map(svg => {
    const box = svg.viewBox.baseVal, line = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    line.setAttribute('class', 'cursor');
    line.setAttribute('visibility', 'hidden');
    line.setAttribute('d', `M0 ${box.y}v${box.height}`);
    return svg.appendChild(line);
  });
  const readout = run.appendChild(document.createElement('div'));
  readout.className = 'readout';
  readout.hidden = true;

  // at returns the row of the column that contains x.
  const at = (rows, x) => {
    let low = 0, high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle][1] < x) low = middle + 1; else high = middle;
    }
    return low < rows.length && rows[low][0] <= x ? rows[low] : null;
  };
  const cell = (row, name, text) => {
    const c = row.appendChild(document.createElement(name));
    c.textContent = text;
  };
  const hide = () => {
    readout.hidden = true;
    for (const c of cursors) c.setAttribute('visibility', 'hidden');
  };
  const show = event => {
    const svg = event.currentTarget, box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
    const found = panels.map(p => [p, at(p.rows, x)]).filter(f => f[1]);
    if (!found.length) return hide();
    const table = document.createElement('table');
    cell(table.appendChild(document.createElement('caption')), 'span', found[0][1][2]);
    const head = table.appendChild(document.createElement('tr'));
    for (const text of ['', ...found[0][0].columns]) cell(head, 'th', text);
    for (const [panel, texts] of found) {
      const row = table.appendChild(document.createElement('tr'));
      for (const text of [panel.name, ...texts.slice(3)]) cell(row, 'td', text);
    }
    readout.replaceChildren(table);
    readout.hidden = false;
    const wide = readout.offsetWidth + 16, right = event.clientX + wide < document.documentElement.clientWidth;
    readout.style.left = `${Math.max(right ? event.clientX + 16 : event.clientX - wide, 4)}px`;
    readout.style.top = `${Math.min(event.clientY + 16, document.documentElement.clientHeight - readout.offsetHeight - 4)}px`;
    for (const c of cursors) {
      c.setAttribute('transform', `translate(${x} 0)`);
      c.setAttribute('visibility', 'visible');
    }
  };
  for (const svg of charts) {
    svg.addEventListener('pointermove', show);
    svg.addEventListener('pointerleave', hide);
  }
}
// Opens folded parts for printing.
onbeforeprint = () => {
  for (const d of document.querySelectorAll('details')) d.open = true;
};
