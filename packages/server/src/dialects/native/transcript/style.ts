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
