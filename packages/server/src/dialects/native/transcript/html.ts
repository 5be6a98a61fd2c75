/** A session as one HTML page without scripts: styles and images are inside, and nothing is loaded from elsewhere. */
import { type Link, type Part, textOf } from '@parlance/protocol';
import type { Entry } from './fold.ts';
import { type Document, timeOf } from './markdown.ts';
import { renderMarkdown } from './render.ts';
import { STYLE } from './style.ts';

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

/** Markdown beyond the limits of `render.ts` is shown as plain text. */
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
