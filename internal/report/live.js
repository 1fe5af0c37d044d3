// Shows new data of live runs without reloading the page, so the scroll position, the selection and open parts stay.
// Only visible pages look. The server answers with few bytes if nothing has changed.
'use strict';
{
  const main = document.querySelector('main'), own = document.currentScript;
  let shown = '';

  // key identifies a node in the old and the fresh page: the run of a row of a list, the heading of a section.
  const key = node => {
    if (node.nodeName === 'TR') return 'run ' + node.querySelector('input')?.value;
    return node.nodeName + (node.nodeName === 'SECTION' ? node.querySelector('h2, h3')?.textContent : '');
  };
  // patch makes a node equal to the fresh one. It replaces charts, because these have listeners.
  const patch = (old, fresh) => {
    if (old.isEqualNode(fresh)) return;
    if (old.nodeType !== Node.ELEMENT_NODE || old.nodeName !== fresh.nodeName || old.nodeName === 'svg') return old.replaceWith(fresh);
    for (const {name} of [...old.attributes]) if (name !== 'open' && !fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const {name, value} of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    const wanted = [...fresh.childNodes], keys = wanted.map(key);
    wanted.forEach((child, i) => {
      let at;
      while ((at = old.childNodes[i]) && key(at) !== keys[i] && (at.nodeType === Node.TEXT_NODE || !keys.includes(key(at), i))) at.remove();
      const same = child.nodeType === Node.TEXT_NODE ? at : [...old.childNodes].slice(i).find(o => key(o) === keys[i]);
      if (!same || key(same) !== keys[i]) return old.insertBefore(child, at ?? null);
      if (same !== at) old.insertBefore(same, at);
      patch(same, child);
    });
    while (old.childNodes.length > wanted.length) old.lastChild.remove();
  };
  const load = async () => {
    const answer = await fetch(location.href, {cache: 'no-cache'});
    if (answer.status === 404) return location.reload();
    if (!answer.ok) throw new Error(answer.statusText);
    const text = await answer.text();
    if (text === shown) return;
    shown = text;
    const fresh = new DOMParser().parseFromString(text, 'text/html');
    patch(main, fresh.querySelector('main'));
    document.title = fresh.title;
    for (const old of document.querySelectorAll('body > script:not(#live)')) { // for the new charts
      const again = document.createElement('script');
      again.textContent = old.textContent;
      old.replaceWith(again);
    }
    if (!fresh.getElementById('live')) own.remove(); // the run is over
  };
  // look loads the page every two seconds. It waits while a pointer reads a chart, and nine times as long as the last
  // page took, so that a slow server is not overloaded.
  const look = async () => {
    const began = performance.now();
    let pause = 2000;
    if (!document.hidden && !document.querySelector('.readout:not([hidden])')) {
      try {
        await load();
        pause = Math.max(pause, 9 * (performance.now() - began));
      } catch {
        pause = 10000;
      }
    }
    if (own.isConnected) setTimeout(look, pause);
  };
  setTimeout(look, 2000);
}
