import { memo, useRef } from 'react';
import { Block } from './blocks.tsx';
import { type Lexed, lexed } from './lex.ts';

type MarkdownProps = {
  readonly text: string;
  /** more of it is coming */
  readonly open?: boolean;
};

/** Markdown as React elements, never as HTML: what a model writes cannot become script, markup or a request. */
export const Markdown = memo(function Markdown({ text, open = false }: MarkdownProps) {
  const read = useRef<{ readonly lexed: Lexed; readonly whole: boolean } | null>(null);
  const before = read.current;
  if (before?.lexed.text !== text || before.whole === open)
    read.current = { lexed: lexed(before?.lexed ?? null, text, !open), whole: !open };
  return (
    <div className="markdown">
      {read.current?.lexed.blocks.map((token, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a block that grows keeps its place
        <Block key={index} token={token} />
      ))}
    </div>
  );
});
