/**
 * A program that converts HTML on stdin to `{ title, text }` on stdout, as Markdown. It is a separate process
 * because a page can require any amount of time, memory and stack, and so that nothing stays loaded in the
 * server.
 */
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import { cutText } from '../cut.ts';
import { PAGE_CHARACTERS } from './limits.ts';
import type { Readable } from './readable.ts';

/** The part of the DOM in use; the library's own types require a browser environment. */
interface PageElement {
  readonly textContent: string | null;
  readonly innerHTML: string;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  remove(): void;
}
interface Page {
  readonly body: PageElement | null;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
}

/** Beyond this number, links are shown without their address: a short link may have a long target. */
const LINKS = 5_000;
const UNREADABLE = 'script, style, noscript, template, iframe, object, embed, svg, canvas, link, meta, title';

function read(html: string, base: string): Readable {
  const page = parse(html);
  const title = (page.querySelector('title')?.textContent ?? '').replace(/\s+/g, ' ').trim();
  completeLinks(page, base);
  // Readability modifies the document, so keep the original in case it finds no article.
  const whole = bareBody(page);
  const article: { title?: string | null; content?: string | null } | null = new Readability(page).parse();
  const text = markdown(article?.content ?? '') || markdown(whole);
  return { title: cutText(article?.title || title, 300), text: cutText(text, PAGE_CHARACTERS) };
}

/** The parser always makes the first element the root. */
function parse(html: string): Page {
  const rooted = /<html[\s>]/i.test(html) ? html : `<!doctype html><html><body>${html}</body></html>`;
  return parseHTML(rooted).document;
}

function completeLinks(page: Page, base: string): void {
  for (const [index, link] of [...page.querySelectorAll('a[href]')].entries()) {
    const url = index < LINKS ? URL.parse(link.getAttribute('href') ?? '', base) : null;
    if (url?.protocol === 'https:' || url?.protocol === 'http:') link.setAttribute('href', url.href);
    else link.removeAttribute('href');
  }
}

function bareBody(page: Page): string {
  for (const element of page.querySelectorAll(UNREADABLE)) element.remove();
  return page.body?.innerHTML ?? '';
}

function markdown(html: string): string {
  if (html.trim() === '') return '';
  const service = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
  });
  service.addRule('image', {
    filter: 'img',
    replacement: (_content: string, image: PageElement) => altOf(image),
  });
  service.addRule('row', { filter: 'tr', replacement: (content: string) => `\n|${content}` });
  service.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content: string) => ` ${content.replace(/\s+/g, ' ').trim()} |`,
  });
  return service.turndown(html).trim();
}

/** Image addresses are useless in text and can be as long as the image. */
function altOf(image: PageElement): string {
  const alt = image.getAttribute('alt');
  return alt ? `[image: ${cutText(alt, 200)}]` : '';
}

await Bun.write(Bun.stdout, JSON.stringify(read(await Bun.stdin.text(), process.argv[2] ?? '')));
