/**
 * A program that converts Markdown to HTML: lines of JSON strings on stdin, one line for each on stdout; null stays
 * null. It is a separate process because a text can require any amount of time in native code, which no thread can
 * interrupt. Markdown of a model is untrusted: HTML in it is escaped, links may only point to the web, and images
 * are not loaded.
 */

/** Beyond it, null: nested quotes, for example, become 27 times as long. */
const HTML_CHARACTERS = 2 * 1024 * 1024;
const PAGE_CHARACTERS = 32 * 1024 * 1024;

function rendered(markdown: string): string | null {
  const html = Bun.markdown.html(markdown, {
    noHtmlBlocks: true,
    noHtmlSpans: true,
    autolinks: { url: true },
  });
  if (html.length > HTML_CHARACTERS) return null;
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

let characters = 0;
for (const line of (await Bun.stdin.text()).split('\n').slice(0, -1)) {
  const markdown: string | null = JSON.parse(line);
  const html = markdown === null || characters > PAGE_CHARACTERS ? null : rendered(markdown);
  characters += html?.length ?? 0;
  await Bun.write(Bun.stdout, `${JSON.stringify(html)}\n`);
}

export {};
