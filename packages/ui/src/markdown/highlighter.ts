/** Syntax trees of code. A separate chunk, because the library is large. */
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import lua from 'highlight.js/lib/languages/lua';
import makefile from 'highlight.js/lib/languages/makefile';
import markdown from 'highlight.js/lib/languages/markdown';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import shell from 'highlight.js/lib/languages/shell';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import type { syntaxTree as declared, SyntaxNode } from './syntax.d.ts';

const LANGUAGES = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  lua,
  makefile,
  markdown,
  php,
  python,
  ruby,
  rust,
  shell,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};

for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

const uncompiled = ['typescript', 'python', 'bash', 'json', ...Object.keys(LANGUAGES)];

/**
 * The library compiles a grammar at its first use, which takes up to 30 ms. Compiles the next one; false if there is none
 * left.
 */
export function compileNextGrammar(): boolean {
  const language = uncompiled.shift();
  if (language) hljs.highlight('', { language });
  return uncompiled.length > 0;
}

/** Null if the language is unknown. */
export const syntaxTree: typeof declared = (code, language) => {
  if (!hljs.getLanguage(language)) return null;
  const { _emitter } = hljs.highlight(code, { language, ignoreIllegals: true });
  const { root } = _emitter as unknown as { readonly root: Exclude<SyntaxNode, string> };
  return root.children;
};
