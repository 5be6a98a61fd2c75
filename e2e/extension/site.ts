/** Pages for the tests of the panel. */

const FORM = `<title>Contact</title><h1>Contact</h1>
<label>Name <input name="name"></label> <label>City <input name="city"></label>
<button onclick="document.querySelector('output').textContent = 'Thanks ' + document.querySelector('input').value">Send</button>
<output></output>`;

/** Counts clicks and shows the number. */
const COUNTER = `<title>Counter</title><h1>Counter</h1>
<button onclick="count++; document.querySelector('output').textContent = count + ' clicks'">Add</button>
<script>let count = 0;</script><output>0 clicks</output>`;

const SHOP = `<title>Shop</title><h1>Checkout</h1>
<form onsubmit="event.preventDefault(); document.querySelector('output').textContent = 'Paid'">
<label>Card number <input autocomplete="cc-number" value="4111111111111111"></label>
<label>Password <input type="password" value="correct horse"></label>
<button>Pay now</button></form><output></output>`;

const ALERT = `<title>Alert</title><h1>Welcome</h1>
<button onclick="document.querySelector('output').textContent = 'clicked'">Go</button><output></output>
<script>addEventListener('load', () => setTimeout(() => alert('Hello'), 300))</script>`;

/** Pretends that a popup was blocked. */
const POPUP = `<title>Popup</title><button>Win</button><script>
document.querySelector('button').onclick = () => document.dispatchEvent(new CustomEvent('parlance:from-page', {
  detail: JSON.stringify({ type: 'open', url: 'https://evil.example/?stolen' }) }));</script>`;

/** Opens a tab itself, which the user's settings allow. */
const OPENER = `<title>Opener</title><button onclick="window.open('/counter')">Open counter</button>`;

/** A canvas that says where it is used, and a sentence to select. */
const DRAWING = `<title>Drawing</title><canvas id="board" width="200" height="80"></canvas><p>Tea is served at five.</p><output></output>
<script>const say = (what) => (event) => { const box = board.getBoundingClientRect();
document.querySelector('output').textContent += what + ' ' + Math.round(event.clientX - box.left) + ',' + Math.round(event.clientY - box.top) + '; '; };
for (const type of ['click', 'mouseup', 'mouseenter']) board.addEventListener(type, say(type));
document.addEventListener('selectionchange', () => { document.title = String(getSelection()) || document.title; });</script>`;

/** Cards with icons that have only listeners, and a field with suggestions. */
const INBOX = `<title>Inbox</title><style>.mail { width: 300px; padding: 8px; cursor: pointer } .mail:hover { background: #eef }
.mail span { display: inline-block; width: 16px; height: 16px; background: #ccc } .mail span:hover { background: #999 } ul { margin: 0 }</style>
<div class="mail">Ada: Lunch? <span class="star"></span> <span class="trash"></span></div><div class="mail">Grace: Build <span class="star"></span> <span class="trash"></span></div>
<label>To <input id="to" autocomplete="off"></label><ul tabindex="0" class="ui-menu" hidden></ul><output></output><script>
const say = (text) => { document.querySelector('output').textContent += text + '; '; };
for (const mail of document.querySelectorAll('.mail')) { mail.addEventListener('click', () => say('opened'));
  for (const icon of mail.querySelectorAll('span')) icon.addEventListener('click', (event) => { event.stopPropagation(); say(icon.className + ' ' + mail.textContent.slice(0, 3)); }); }
const menu = document.querySelector('ul'); to.addEventListener('input', () => setTimeout(() => { menu.hidden = false;
  menu.innerHTML = ['Ada', 'Adele', 'Adam'].map((name) => '<li class="ui-menu-item"><div tabindex="-1">' + name + '</div></li>').join(''); }, 300));
menu.addEventListener('click', (event) => say('to ' + event.target.textContent));</script>`;

/** Says that it is the console of a server, at an address that no extension is paired with. */
const CONSOLE = `<title>Parlance</title><meta name="application-name" content="Parlance">
<button onclick="document.querySelector('output').textContent = 'allowed'">Allow once</button><output></output>`;

const PAGES: Readonly<Record<string, string>> = {
  '/': FORM,
  '/counter': COUNTER,
  '/shop': SHOP,
  '/alert': ALERT,
  '/popup': POPUP,
  '/opener': OPENER,
  '/drawing': DRAWING,
  '/inbox': INBOX,
  '/console': CONSOLE,
};

export type Site = { readonly http: string; stop(): Promise<void> };

export function startSite(): Site {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (pathname === '/to') return Response.redirect(search.slice(1));
      const page = PAGES[pathname];
      const headers = { 'content-type': 'text/html; charset=utf-8' };
      return page ? new Response(page, { headers }) : new Response('Not found', { status: 404 });
    },
  });
  return { http: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}
