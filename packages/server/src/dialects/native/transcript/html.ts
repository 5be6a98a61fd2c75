/**
 * A session as one HTML page without scripts: styles and images are inside, and nothing is loaded from elsewhere. Markdown is rendered
 * in a separate process, with limits: see `renderer.ts`.
 */
import { Fault, type Link, type Part, textOf } from '@parlance/protocol';
import { programIn, runProgram } from '../../../lib/program.ts';
import { type Document, type Entry, timeOf } from './fold.ts';

/** The style of documents, light and dark, in the colours of the console. The content security policy contains its hash. */
export const STYLE = `
:root { color-scheme: light dark; --paper: light-dark(#faf9f7, #16171a); --surface: light-dark(#fff, #1e2024); --sunken: light-dark(#f1efeb, #121316);
  --line: light-dark(#e2dfd8, #31343a); --text: light-dark(#1f2023, #e8e6e1); --muted: light-dark(#5f6168, #a3a6ad); --accent: light-dark(#22654f, #7fcdb0) }
html { background: var(--paper); color: var(--text); scroll-behavior: smooth }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto } }
body { font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; max-width: 47rem; margin: 0 auto; padding: 1rem 1rem 3rem; overflow-wrap: anywhere }
header, footer { color: var(--muted); font-size: .875rem }
.brand { display: flex; align-items: center; gap: .5rem; font-weight: 600; color: var(--text); padding-bottom: .75rem; border-bottom: 1px solid var(--line) }
.brand svg { width: 1.5rem; height: 1.5rem }
h1 { font-size: 1.6rem; line-height: 1.25; color: var(--text) }
h2 { font-size: .875rem; margin: 0 0 .25rem; color: var(--muted) }
nav { border: 1px solid var(--line); border-radius: 10px; background: var(--surface); padding: .75rem 1rem; font-size: .875rem; max-height: 14rem; overflow: auto }
nav ol { margin: .25rem 0 0; padding-left: 1.5rem }
nav a { text-decoration: none }
nav a:hover, nav a:focus-visible { text-decoration: underline }
article { margin: 1.5rem 0; scroll-margin-top: 1rem }
article h3, article h4 { line-height: 1.3 }
.user { background: var(--sunken); border-radius: 10px; padding: .75rem 1rem }
.user:target { outline: 2px solid var(--accent) }
.plain { white-space: pre-wrap; margin: 0 }
.note, .call { color: var(--muted); font-size: .875rem }
pre { background: var(--sunken); border: 1px solid var(--line); border-radius: 6px; padding: .75rem; overflow: auto; font-size: .8125rem; white-space: pre-wrap }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .875em }
table { border-collapse: collapse; display: block; overflow: auto }
th, td { border: 1px solid var(--line); padding: .25rem .5rem; text-align: left }
blockquote { margin: 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--muted) }
img { max-width: 100% }
a { color: var(--accent) }
@media (min-width: 80rem) {
  nav { position: fixed; top: 1rem; left: calc(50% + 24.5rem); width: min(14rem, calc(50% - 26rem)); max-height: calc(100vh - 4rem) }
}
@media print { nav { display: none } }
`;

const LOGO =
  '<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7.5" fill="#27715a"/><path d="M9.3 25.5V14a7 7 0 1 1 4.6 6.6" fill="none" stroke="#fff" stroke-width="3.4" stroke-linecap="round" stroke-linejoin="round"/><circle cx="16.3" cy="14" r="2.5" fill="#9fe8cb"/></svg>';

export type HtmlOptions = {
  /** for a shared link: input and output of tools are left out */
  readonly shared: boolean;
};

const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Also part of the page itself, for files that no server sends. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${new Bun.CryptoHasher('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Markdown beyond the limits is shown as plain text. */
export async function htmlOf(document: Document, options: HtmlOptions): Promise<string> {
  const { title, agent, createdAt, entries } = document;
  const answers = entries.filter((entry) => entry.kind === 'agent');
  const html = await renderMarkdown(answers.map(({ text }) => text));
  const rendered = new Map(answers.map((entry, index) => [entry, html[index] ?? null]));
  const content = (entry: Entry): string =>
    entry.kind === 'agent' ? answer(entry, agent, rendered.get(entry) ?? null) : section(entry, options);
  const time = `<time datetime="${new Date(createdAt).toISOString()}">${timeOf(createdAt)}</time>`;
  const note = options.shared
    ? ' · Shared with a link, as it was then. Input and output of tools are not shown.'
    : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${PAGE_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="referrer" content="no-referrer">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<header><div class="brand">${LOGO}Parlance</div><h1>${escaped(title)}</h1><p>${time}${note}</p></header>
${outline(entries)}<main>
${entries.map(content).join('\n')}
</main>
<footer><p>Made with Parlance</p></footer>
</body>
</html>
`;
}

/** Links to the messages of the user, if there are several. */
function outline(entries: readonly Entry[]): string {
  const said = entries.filter((entry) => entry.kind === 'user');
  if (said.length < 2) return '';
  const items = said.map(({ seq, parts }) => {
    const text = textOf(parts).trim().replace(/\s+/g, ' ');
    return `<li><a href="#m${seq}">${escaped(text.slice(0, OUTLINE_CHARACTERS) || 'Attachment')}${text.length > OUTLINE_CHARACTERS ? '…' : ''}</a></li>`;
  });
  return `<nav aria-labelledby="outline"><h2 id="outline">Outline</h2><ol>${items.join('')}</ol></nav>\n`;
}

const OUTLINE_CHARACTERS = 80;

type Answer = Extract<Entry, { kind: 'agent' }>;

const answer = ({ text, interrupted }: Answer, agent: string, html: string | null): string =>
  `<article><h2>${escaped(agent)}</h2>${html ?? plain(text)}${interrupted ? '<p>…</p>' : ''}</article>`;

function section(entry: Exclude<Entry, Answer>, { shared }: HtmlOptions): string {
  switch (entry.kind) {
    case 'user':
      return `<article class="user" id="m${entry.seq}"><h2>${shared ? 'User' : 'You'}</h2>${entry.parts.map(partOf).join('')}</article>`;
    case 'note':
      return `<p class="note">${escaped(entry.text)}</p>`;
    case 'call': {
      const { tool, input, result } = entry;
      const summary = `<code>${escaped(tool)}</code> ${result?.outcome ?? 'not finished'}`;
      if (shared) return `<p class="call">${summary}</p>`;
      const output = result ? `<pre>${escaped(textOf(result.parts))}</pre>` : '';
      return `<details class="call"><summary>${summary}</summary><pre>${escaped(JSON.stringify(input, null, 2))}</pre>${output}</details>`;
    }
  }
}

function partOf(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.link ? `<p class="plain">${anchor(part.link)}</p>` : plain(part.text);
    case 'image':
      return IMAGES.has(part.mime)
        ? `<img alt="Attached image" src="data:${part.mime};base64,${escaped(part.data)}">`
        : '<p class="note">Attached image</p>';
    case 'file':
      return `<p class="note">Attachment: ${escaped(part.name)}</p>`;
    case 'page':
      return '<p class="note">With the page</p>';
  }
}

/** Opened only by a click: nothing is loaded from elsewhere. */
const anchor = ({ url, name }: Link): string =>
  `<a href="${escaped(url)}" rel="noopener noreferrer nofollow">${escaped(name ?? url)}</a>`;

const plain = (text: string): string => `<p class="plain">${escaped(text)}</p>`;

const escaped = (text: string): string => Bun.escapeHTML(text.toWellFormed().replaceAll('\0', '\ufffd'));

// Markdown

/** Longer texts are not rendered, nor is what follows when a page has this much. */
const TEXT_CHARACTERS = 256 * 1024;
const PAGE_CHARACTERS = 8 * 1024 * 1024;
/** Per page, including the start of the process. */
const RENDER_MS = 10_000;
const RENDERER_KILOBYTES = 512 * 1024;
const MAX_WAITING = 16;
const RETRY_MS = 5_000;

let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/**
 * The HTML of each text; null for those beyond the limits of size and time, which the caller shows as they
 * are. One page is rendered at a time. Throws `overloaded` if too many wait.
 */
export async function renderMarkdown(
  texts: readonly string[],
  milliseconds = RENDER_MS,
): Promise<(string | null)[]> {
  if (texts.length === 0) return [];
  if (waiting >= MAX_WAITING)
    throw new Fault('overloaded', 'Too many pages are being prepared; try again later.', {
      retryAfterMs: RETRY_MS,
    });
  waiting++;
  const rendered = last.then(() => run(texts, milliseconds)).finally(() => waiting--);
  last = Promise.allSettled([rendered]);
  return rendered;
}

async function run(texts: readonly string[], milliseconds: number): Promise<(string | null)[]> {
  let characters = 0;
  const lines = texts.map((text) => {
    if (text.length > TEXT_CHARACTERS || characters + text.length > PAGE_CHARACTERS) return 'null\n';
    characters += text.length;
    return `${JSON.stringify(text)}\n`;
  });
  const output = await runProgram(programIn(import.meta.dir, 'renderer'), {
    input: lines.join(''),
    signal: AbortSignal.timeout(milliseconds),
    maxKilobytes: RENDERER_KILOBYTES,
  });
  // A line without an end was cut off when the process was killed.
  const results = output.split('\n').slice(0, -1);
  return texts.map((_, index) => JSON.parse(results[index] ?? 'null') as string | null);
}
