/**
 * A page of about the given size, like real sites: menus, cards with links and buttons, forms, scripts and
 * styles.
 */
export function generatedPage(bytes: number): string {
  const parts = [
    '<!doctype html><html><head><title>Catalogue</title><style>.card{display:flex}</style></head><body>',
    '<nav><ul><li><a href="/">Home</a></li><li><a href="/cart">Cart</a></li></ul></nav><main>',
  ];
  let length = parts.join('').length;
  for (let card = 1; length < bytes - 30; card++) {
    const next = cardOf(card);
    parts.push(next);
    length += next.length;
  }
  return `${parts.join('')}</main></body></html>`;
}

/** Copilot clients number usable elements in `id`. */
const cardOf = (card: number): string => `
<article class="card card--wide" data-item="${card}">
  <h2><a id="${card * 3}" href="/items/${card}?ref=list&amp;page=${card % 40}">Item ${card}, in ${['red', 'green', 'blue'][card % 3]}</a></h2>
  <p>Made of <b>oak</b> and steel, ${card} cm wide. Ships within ${(card % 9) + 1} days; returns are free.</p>
  <form action="/cart" method="post"><label for="${card * 3 + 1}">Count</label>
    <input id="${card * 3 + 1}" name="count" type="number" value="1" min="1">
    <button id="${card * 3 + 2}" type="submit">Add item ${card}</button></form>
  <script>window.seen = (window.seen || []).concat(${card});</script>
</article>`;
