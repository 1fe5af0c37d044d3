// Makes charts as wide as the page, shows the values below the pointer, and a part of the time that the pointer chooses.
// Shows times in the zone of the browser. The page is complete without this script. The script runs again when a live
// page has changed.
'use strict';
{
  const main = document.querySelector('main'), left = 76, area = 960, right = 24; // as in package chart
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const add = (to, name, attributes, text) => {
    const e = to.appendChild(document.createElementNS(to.namespaceURI, name));
    for (const key in attributes) e.setAttribute(key, attributes[key]);
    if (text !== undefined) e.textContent = text;
    return e;
  };
  const offset = ms => -6e4 * new Date(ms).getTimezoneOffset();
  const iso = ms => new Date(ms).toISOString();
  const day = ms => new Date(ms).toUTCString().slice(8, 11) + ' ' + new Date(ms).getUTCDate(); // Nov 21
  let isLocal = false;

  // Texts with times in UTC. A time without a date is on the day of the time before it.
  const texts = [];
  for (const e of main.querySelectorAll('.title,th,td[data-title^=Start],td[data-title^=Latest],table.worst td,dd.time')) {
    const walk = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) texts.push([walk.currentNode, walk.currentNode.data]);
  }
  const showTexts = () => {
    let on = '2000-01-01';
    for (const [node, text] of texts) {
      node.nodeValue = !isLocal ? text : text.replace(/UTC/, zone).replace(/(\d{4}-\d\d-\d\d |[A-Z][a-z]{2} \d+ )?(\d\d:\d\d:\d\d(?:\.\d+)?)/g, (_, date = '', clock) => {
        if (date.includes('-')) on = date.trim();
        const utc = Date.parse(date.includes('-') || !date ? `${on}T${clock}Z` : `${date}${on.slice(0, 4)} ${clock} UTC`), at = utc + offset(utc);
        return (date && (date.includes('-') ? iso(at).slice(0, 10) : day(at)) + ' ') + iso(at).slice(11, 11 + clock.length);
      });
    }
  };

  // ticks returns round times of a chart with room for so many, as pairs of milliseconds and text.
  const ticks = (times, from, until, most) => {
    const s = 1000, m = 60 * s, h = 60 * m;
    const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, s, 2 * s, 5 * s, 10 * s, 15 * s, 30 * s, m, 2 * m, 5 * m, 10 * m, 15 * m, 30 * m, h, 2 * h, 3 * h, 6 * h, 12 * h];
    const step = steps.find(step => (until - from) / step <= most) ?? 24 * h * Math.ceil((until - from) / most / 24 / h);
    const shift = times.since ? 0 : isLocal ? offset(from) : times.offset, list = [];
    for (let at = Math.ceil((from + shift) / step) * step; at <= until + shift; at += step) {
      const clock = iso(at).slice(11, step < s ? 23 : step < m ? 19 : 16);
      list.push([at - shift, times.since ? at / s + 's' : step >= 24 * h ? day(at) : at % (24 * h) || !list.length ? clock : day(at) + ' ' + clock]);
    }
    return list;
  };

  for (const source of document.querySelectorAll('script.data')) {
    const values = JSON.parse(source.textContent), {times} = values;
    const scope = times ? source.closest('article, main') : source.closest('figure');
    const charts = [...scope.querySelectorAll(times ? '.over-time svg:has([data-across])' : 'svg:has([data-across])')];
    if (!charts.length || charts.some(svg => svg.fit)) continue;
    const panels = times ? [...scope.querySelectorAll('script.data')].map(s => JSON.parse(s.textContent)).filter(t => t.times).flatMap(t => t.panels) : values.panels ?? [];
    const whole = [left, left + area];
    let [begin, end] = whole, width = left + area + right;
    const scale = () => (width - left - right) / (end - begin);
    const xOf = v => left + (v - begin) * scale();
    const vOf = event => begin + (event.clientX - event.currentTarget.getBoundingClientRect().left - left) / scale();
    const msOf = v => times.from + (v - left) / area * (times.until - times.from);
    const fits = charts.map(svg => {
      const {y, height} = svg.viewBox.baseVal, id = 'part' + document.querySelectorAll('clipPath').length;
      const labels = [...svg.querySelectorAll('[data-below] text')], name = labels.pop();
      const own = labels.map(l => [+l.getAttribute('x'), l.textContent]), called = name.textContent;
      const dots = [...svg.querySelectorAll('[data-dots] circle,[data-dots] text')].map(d => [d, d.localName === 'text' ? 'x' : 'cx']).map(([d, key]) => [d, key, +d.getAttribute(key)]);
      const paths = [...svg.querySelectorAll('path:not([data-across] path,[data-legend] path)')];
      const part = add(add(svg, 'clipPath', {id}), 'rect', {y, height});
      const band = add(svg, 'rect', {class: 'band', y, height, visibility: 'hidden'});
      svg.classList.add('fit');
      svg.fit = () => {
        svg.setAttribute('viewBox', `0 ${y} ${width} ${height}`);
        part.setAttribute('x', begin);
        part.setAttribute('width', end - begin);
        for (const p of paths) {
          const isFrame = p.matches('.grid path,.frame'), k = isFrame ? (width - left - right) / area : scale();
          p.setAttribute('transform', `matrix(${k} 0 0 1 ${left - (isFrame ? left : begin) * k} 0)`);
          if (!isFrame) p.setAttribute('clip-path', `url(#${id})`);
        }
        for (const [d, key, v] of dots) {
          d.setAttribute(key, xOf(v));
          d.setAttribute('visibility', v < begin - 1 || v > end + 1 ? 'hidden' : 'visible');
        }
        let shown = own;
        if (times) {
          shown = ticks(times, msOf(begin), msOf(end), width / 110).map(([ms, text]) => [left + (ms - times.from) / (times.until - times.from) * area, text]);
          const days = [times.from, times.until].map(ms => iso(ms + (isLocal ? offset(ms) : times.offset)).slice(0, 10));
          name.textContent = times.since || !isLocal ? called : called.replace(/UTC/, zone).replace(/\d{4}-\d\d-\d\d/g, () => days.shift());
        }
        let after = -Infinity;
        shown = shown.filter(([v, text]) => xOf(v) > after && (after = xOf(v) + 7 * text.length + 8));
        for (const across of svg.querySelectorAll('[data-across]')) {
          across.replaceChildren();
          for (const [v] of shown) add(across, 'path', {d: `M${xOf(v)} ${across.dataset.across}`});
        }
        const below = name.parentNode;
        below.replaceChildren(name);
        for (const [v, text] of shown) add(below, 'text', {x: xOf(v), y: below.dataset.below}, text);
        name.setAttribute('x', (width + left - right) / 2);
        svg.querySelector('[data-legend]')?.setAttribute('transform', width < 560 ? 'translate(-188 0)' : '');
      };
      return {svg, mark: (from, to) => {
        band.setAttribute('x', xOf(from));
        band.setAttribute('width', Math.max((to - from) * scale(), 1));
        band.setAttribute('visibility', 'visible');
      }, clear: () => band.setAttribute('visibility', 'hidden')};
    });
    const fit = () => {
      width = Math.max(charts[0].parentElement.clientWidth, 240);
      for (const svg of charts) svg.fit();
    };
    const readout = add(scope, 'div', {class: 'readout', hidden: ''});
    let from = null; // where the pointer was pressed
    const hide = () => {
      readout.hidden = true;
      from = null;
      for (const f of fits) f.clear();
    };
    const show = event => {
      const v = Math.min(Math.max(vOf(event), begin), end);
      for (const f of fits) f.mark(Math.min(v, from ?? v), Math.max(v, from ?? v));
      const found = panels.map(p => [p, p.rows.find(row => row[0] <= v && v <= row[1])]).filter(f => f[1]);
      readout.hidden = !found.length;
      if (!found.length) return;
      readout.replaceChildren();
      const table = add(readout, 'table', {});
      add(table, 'caption', {}, times && isLocal && !times.since ? found[0][1].slice(0, 2).map(v => iso(msOf(v) + offset(msOf(v))).slice(11, 23)).join(' – ') : found[0][1][2]);
      const {columns} = found[0][0], head = columns && add(table, 'tr', {});
      for (const text of columns ? ['', ...columns] : []) add(head, 'th', {}, text);
      for (const [panel, row] of found) {
        const line = add(table, 'tr', {});
        for (const text of [panel.name, ...row.slice(3)]) add(line, 'td', {}, text);
      }
      const wide = readout.offsetWidth + 16, isRight = event.clientX + wide < document.documentElement.clientWidth;
      readout.style.left = `${Math.max(isRight ? event.clientX + 16 : event.clientX - wide, 4)}px`;
      readout.style.top = `${Math.min(event.clientY + 16, document.documentElement.clientHeight - readout.offsetHeight - 4)}px`;
    };
    const all = times && charts[0].parentElement.insertBefore(add(scope, 'button', {class: 'all', type: 'button'}), charts[0].parentElement.firstChild);
    const zoom = (a, b) => {
      [begin, end] = [a, b];
      if (all && (all.disabled = b - a >= area)) all.textContent = 'Drag to zoom';
      else if (all) all.textContent = 'Whole time';
      fit();
    };
    all?.addEventListener('click', () => zoom(...whole));
    for (const svg of charts) {
      svg.addEventListener('pointermove', show);
      svg.addEventListener('pointerleave', event => event.pointerType === 'touch' || hide());
      if (!times) continue;
      svg.addEventListener('pointerdown', event => {
        if (event.button === 0 && !event.target.closest('a')) from = vOf(event);
      });
      svg.addEventListener('pointerup', event => {
        const to = Math.min(Math.max(vOf(event), begin), end), first = Math.min(Math.max(from ?? to, begin), end);
        from = null;
        if (Math.abs(to - first) * scale() <= 8) return;
        zoom(Math.min(first, to), Math.max(first, to));
        hide();
      });
    }
    addEventListener('scroll', hide);
    new ResizeObserver(fit).observe(charts[0].parentElement);
    zoom(...whole);
  }

  if (zone !== 'UTC' && texts.some(t => t[1].includes('UTC'))) {
    const button = add(main.querySelector('nav') ?? main.querySelector('h1'), 'button', {class: 'zone', type: 'button'});
    const choose = to => {
      isLocal = to;
      button.textContent = isLocal ? 'Times in UTC' : 'Local times';
      showTexts();
      for (const svg of main.querySelectorAll('svg.fit')) svg.fit?.();
    };
    button.addEventListener('click', () => choose((localStorage.local = isLocal ? '' : 'yes') === 'yes'));
    choose(localStorage.local === 'yes');
  }
  // Opens folded parts for printing.
  onbeforeprint = () => {
    for (const d of document.querySelectorAll('details')) d.open = true;
  };
}
