/** A session as one HTML page without scripts: styles and images are inside, and nothing is loaded from elsewhere. */
import { type Link, type Part, textOf } from '@parlance/protocol';
import type { Entry } from './fold.ts';
import { type Document, timeOf } from './markdown.ts';
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

export function htmlOf({ title, agent, createdAt, entries }: Document, options: HtmlOptions): string {
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
${entries.map((entry) => section(entry, agent, options)).join('\n')}
</main>
<footer><p>Made with Parlance</p></footer>
</body>
</html>
`;
}

function section(entry: Entry, agent: string, { shared }: HtmlOptions): string {
  switch (entry.kind) {
    case 'user':
      return `<article class="user"><h2>${shared ? 'User' : 'You'}</h2>${entry.parts.map(partOf).join('')}</article>`;
    case 'agent':
      return `<article><h2>${escaped(agent)}</h2>${rendered(entry.text)}${entry.interrupted ? '<p>…</p>' : ''}</article>`;
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
      return part.link
        ? `<p class="plain">${anchor(part.link)}</p>`
        : `<p class="plain">${escaped(part.text)}</p>`;
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

/**
 * Markdown of a model is untrusted: HTML in it is escaped, links may only point to the web, and images are not
 * loaded.
 */
function rendered(markdown: string): string {
  const html = Bun.markdown.html(markdown, {
    noHtmlBlocks: true,
    noHtmlSpans: true,
    autolinks: { url: true },
  });
  return new HTMLRewriter()
    .on('a', {
      element(link) {
        const href = link.getAttribute('href') ?? '';
        if (!/^(https?:|mailto:)/i.test(href)) link.removeAttribute('href');
        link.setAttribute('rel', 'noopener noreferrer nofollow');
      },
    })
    .on('img', {
      element(image) {
        image.replace(`[image: ${image.getAttribute('alt') ?? ''}]`);
      },
    })
    .transform(html);
}

const escaped = (text: string): string => Bun.escapeHTML(text.toWellFormed().replaceAll('\0', '\ufffd'));
