/** The documentation as a searchable site: `npm run build:docs`. The server serves it at /docs. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type MarkdownIt from 'markdown-it';
import { defineConfig } from 'vitepress';

const DOCS = join(import.meta.dirname, '..');

const titleOf = (page: string): string =>
  /^# (.+)$/m.exec(readFileSync(join(DOCS, page), 'utf8'))?.[1]?.replaceAll('`', '') ?? page;

const item = (page: string) => ({ text: titleOf(page), link: `/${page.replace(/\.md$/, '')}` });

const pagesIn = (folder: string) =>
  readdirSync(join(DOCS, folder))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .sort()
    .map((name) => item(`${folder}/${name}`));

const guides = (...names: string[]) =>
  names
    .map((name) => `guides/${name}.md`)
    .filter((page) => existsSync(join(DOCS, page)))
    .map(item);

/** Links to files of the repository lead nowhere here: their text stays. Braces are text, not templates. No comments. */
function plainMarkdown(md: MarkdownIt): void {
  md.core.ruler.before('normalize', 'no-comments', (state) => {
    state.src = state.src.replace(/<!--[\s\S]*?-->\n?/g, '');
  });
  md.core.ruler.push('links-inside', ({ tokens, env }) => {
    for (const { children } of tokens) {
      let outside = false;
      for (const token of children ?? []) {
        if (token.type === 'link_open') outside = leadsOutside(token.attrGet('href') ?? '', env.path);
        if (outside && (token.type === 'link_open' || token.type === 'link_close')) token.tag = 'span';
        if (outside && token.type === 'link_open') token.attrs = [];
        else if (token.type === 'link_open')
          token.attrSet('href', (token.attrGet('href') ?? '').replace(/(^|\/)README\.md\b/, '$1index.md'));
        if (token.type === 'link_close') outside = false;
        if (token.type === 'text') token.content = token.content.replaceAll('{{', '{\u200b{');
      }
    }
  });
}

/** A picture that ends in `-light.png` or `-light.webp` has a twin with `-dark`: each is shown in its theme. */
function themedPictures(md: MarkdownIt): void {
  const plain = md.renderer.rules.image;
  md.renderer.rules.image = (tokens, index, ...rest) => {
    const html = plain?.(tokens, index, ...rest) ?? '';
    if (!/-light\.(png|webp)"/.test(html)) return html;
    const dark = html.replace(/-light\.(png|webp)"/, '-dark.$1"').replace('<img ', '<img class="on-dark" ');
    return html.replace('<img ', '<img class="on-light" ') + dark;
  };
}

function leadsOutside(href: string, page: string): boolean {
  if (/^(\w+:|#|\/)/.test(href)) return false;
  const target = relative(DOCS, join(dirname(page), href.replace(/[#?].*/, '')));
  return target.startsWith('..') || !/(\.md|^)$/.test(target);
}

export default defineConfig({
  title: 'Parlance',
  description: 'One agent server for every client',
  base: '/docs/',
  head: [['link', { rel: 'icon', href: '/docs/icon.svg', type: 'image/svg+xml' }]],
  outDir: join(DOCS, '.vitepress/dist'),
  cleanUrls: false,
  rewrites: { 'README.md': 'index.md', 'decisions/README.md': 'decisions/index.md' },
  srcExclude: ['images/**'],
  markdown: {
    html: false,
    attrs: { disable: true },
    config: (md) => {
      plainMarkdown(md);
      themedPictures(md);
    },
    theme: { light: 'github-light', dark: 'github-dark' },
  },
  themeConfig: {
    logo: '/icon.svg',
    search: { provider: 'local' },
    outline: [2, 3],
    notFound: {
      quote: 'There is no page at this address.',
      linkText: 'Open the documentation',
      linkLabel: 'Open the documentation',
    },
    sidebar: [
      { text: 'Start', items: guides('quick-start', 'install', 'concepts', 'console', 'clients', 'sdk') },
      { text: 'Tasks', items: guides('chat-on-your-site', 'claude-code', 'phone') },
      {
        text: 'Guides',
        items: guides(
          'models',
          'tools-and-approvals',
          'steering',
          'sub-agents',
          'instructions-and-skills',
          'fallback',
          'questions',
          'rewind',
          'spend-limits',
          'custom-tools',
          'custom-agents',
          'terminal',
          'browser-extension',
        ),
      },
      {
        text: 'Operate',
        items: [
          ...guides(
            'configuration',
            'tls',
            'users-and-tokens',
            'limits',
            'operations',
            'backup',
            'upgrade',
            'uninstall',
            'container',
            'cluster',
          ),
          item('security.md'),
          item('guarantees.md'),
          item('crash-run.md'),
          item('conformance.md'),
          ...guides('how-it-is-tested'),
        ],
      },
      { text: 'Help', items: [...guides('faq', 'troubleshooting'), item('glossary.md')] },
      { text: 'Protocols', collapsed: true, items: pagesIn('dialects') },
      { text: 'Decisions', collapsed: true, items: pagesIn('decisions') },
    ],
  },
});
