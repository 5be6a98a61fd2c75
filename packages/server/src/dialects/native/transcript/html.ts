/**
 * A session as one HTML page without scripts: styles and images are inside, and nothing is loaded from elsewhere. Markdown is rendered
 * in a separate process, with limits: see `renderer.ts`.
 */
import { Fault, type Link, type Part, textOf } from '@parlance/protocol';
import { programIn, runProgram } from '../../../lib/program.ts';
import { type Document, type Entry, timeOf } from './fold.ts';

/** The style of documents, light and dark. The content security policy contains its hash. */
export const STYLE = `
:root { color-scheme: light dark; --line: #d5d8de; --soft: #f2f4f7; --muted: #5a6372; --link: #0b57d0 }
@media (prefers-color-scheme: dark) { :root { --line: #3a404b; --soft: #22262e; --muted: #a3abb9; --link: #8ab4f8 } }
html { background: Canvas; color: CanvasText }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere }
header, footer { color: var(--muted); font-size: .875rem }
h1 { font-size: 1.5rem; line-height: 1.25; color: CanvasText }
h2 { font-size: .875rem; margin: 0 0 .25rem; color: var(--muted) }
article { margin: 1.5rem 0 }
article h3, article h4 { line-height: 1.3 }
.user { background: var(--soft); border-radius: .75rem; padding: .75rem 1rem }
.plain { white-space: pre-wrap; margin: 0 }
.note, .call { color: var(--muted); font-size: .875rem }
pre { background: var(--soft); border-radius: .5rem; padding: .75rem; overflow: auto; font-size: .8125rem; white-space: pre-wrap }
code { font-family: ui-monospace, monospace; font-size: .875em }
table { border-collapse: collapse; display: block; overflow: auto }
th, td { border: 1px solid var(--line); padding: .25rem .5rem; text-align: left }
blockquote { margin: 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--muted) }
img { max-width: 100% }
a { color: var(--link) }
`;

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
<header><h1>${escaped(title)}</h1><p>${time}${note}</p></header>
<main>
${entries.map(content).join('\n')}
</main>
<footer><p>Made with Parlance</p></footer>
</body>
</html>
`;
}

type Answer = Extract<Entry, { kind: 'agent' }>;

const answer = ({ text, interrupted }: Answer, agent: string, html: string | null): string =>
  `<article><h2>${escaped(agent)}</h2>${html ?? plain(text)}${interrupted ? '<p>…</p>' : ''}</article>`;

function section(entry: Exclude<Entry, Answer>, { shared }: HtmlOptions): string {
  switch (entry.kind) {
    case 'user':
      return `<article class="user"><h2>${shared ? 'User' : 'You'}</h2>${entry.parts.map(partOf).join('')}</article>`;
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
