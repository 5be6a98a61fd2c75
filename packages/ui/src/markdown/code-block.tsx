/** A code block: plain at first, highlighted once the highlighter is loaded. */
import {
  createContext,
  memo,
  type ReactNode,
  useContext,
  useDeferredValue,
  useEffect,
  useMemo,
  useState,
} from 'react';
import { openPreview, previewKind } from '../chat/preview.ts';
import { CopyButton, download, IconButton } from '../components/controls.tsx';

/** There is room for a preview: the console has it, the panel of the extension not. */
export const CanPreview = createContext(false);

type CodeProps = { readonly code: string; readonly language: string };

export const CodeBlock = memo(function CodeBlock({ code, language }: CodeProps) {
  const [wraps, setWraps] = useState(false);
  const kind = previewKind(language, code);
  const canPreview = useContext(CanPreview) && kind !== null;
  return (
    <div className="code-block" data-wraps={wraps || undefined}>
      <div className="code-head">
        <span>{language || 'text'}</span>
        <span className="code-tools">
          {canPreview && (
            <IconButton icon="eye" label="Preview" onClick={() => openPreview({ kind, code })} />
          )}
          <IconButton icon="wrap" label="Wrap lines" aria-pressed={wraps} onClick={() => setWraps(!wraps)} />
          <IconButton
            icon="download"
            label="Download code"
            onClick={() => download(fileName(language), new Blob([code], { type: 'text/plain' }))}
          />
          <CopyButton text={code} label="Copy code" />
        </span>
      </div>
      <Code code={code} language={language} />
    </div>
  );
});

const ENDINGS: Readonly<Record<string, string>> = {
  typescript: 'ts',
  javascript: 'js',
  python: 'py',
  markdown: 'md',
  shell: 'sh',
  bash: 'sh',
  rust: 'rs',
  ruby: 'rb',
};

/** `code.ts`; the language comes from the model. */
const fileName = (language: string): string =>
  `code.${ENDINGS[language] ?? (/^[a-z\d]{1,8}$/.test(language) ? language : 'txt')}`;

/** The code without a frame. */
export const Code = memo(function Code({ code, language }: CodeProps) {
  const wanted = language !== '' && code.length <= MAX_HIGHLIGHTED_LENGTH;
  const highlighter = useHighlighter(wanted);
  // While streaming, highlighting may lag behind but the text may not.
  const settled = useDeferredValue(code);
  const coloured = useMemo(
    (): ReactNode => (wanted && highlighter ? highlighter.highlight(settled, language) : null),
    [wanted, highlighter, settled, language],
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <pre className="code" tabIndex={0}>
      <code>
        {coloured === null ? <PlainCode code={code} /> : coloured}
        {coloured !== null && code.startsWith(settled) && code.slice(settled.length)}
      </code>
    </pre>
  );
});

/** Lines per part of long code. */
const PART_LINES = 200;

/** Parts out of view are not laid out, and code that grows changes only its last part. */
function PlainCode({ code }: { code: string }): ReactNode {
  if (code.length <= MAX_HIGHLIGHTED_LENGTH) return code;
  const lines = code.split('\n');
  return Array.from({ length: Math.ceil(lines.length / PART_LINES) }, (_, index) => {
    const part = lines.slice(index * PART_LINES, (index + 1) * PART_LINES);
    return (
      <span
        // biome-ignore lint/suspicious/noArrayIndexKey: a growing part keeps its index
        key={index}
        className="code-part"
        style={{ containIntrinsicBlockSize: `auto ${part.length}lh` }}
      >
        {`${part.join('\n')}\n`}
      </span>
    );
  });
}

// The highlighter, loaded when a message is typed or the first code is shown.

type Highlighter = typeof import('./highlight.tsx');

/** Longer code stays plain: highlighting would block the page. */
export const MAX_HIGHLIGHTED_LENGTH = 60_000;

let loaded: Highlighter | null = null;

async function load(): Promise<Highlighter> {
  loaded = await import('./highlight.tsx');
  return loaded;
}

/** Loading and compiling the grammars takes longer than a frame: better while a message is typed than while its answer streams. */
export function useHighlighterSoon(isEnabled: boolean): void {
  useEffect(() => {
    if (!isEnabled || loaded) return;
    void load().then(compileGrammars, () => undefined);
  }, [isEnabled]);
}

/** One grammar in each idle period; Safari has none, so there they follow one another as timers. */
function compileGrammars({ compileNextGrammar }: Highlighter): void {
  const compile = () => {
    if (compileNextGrammar()) schedule(compile);
  };
  const schedule = window.requestIdleCallback ?? ((callback: () => void) => setTimeout(callback, 50));
  schedule(compile);
}

/** Null until loaded. */
export function useHighlighter(isEnabled: boolean): Highlighter | null {
  const [highlighter, setHighlighter] = useState(loaded);
  useEffect(() => {
    if (!isEnabled || highlighter) return;
    let isUnmounted = false;
    void load().then((module) => {
      if (!isUnmounted) setHighlighter(module);
    });
    return () => {
      isUnmounted = true;
    };
  }, [isEnabled, highlighter]);
  return highlighter;
}
