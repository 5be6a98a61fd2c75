import type { Token } from 'marked';
import { memo, useRef } from 'react';
import { Block } from './blocks.tsx';
import type { Lexed } from './lex.ts';
import { lexedWithMath } from './math-lex.ts';

type MarkdownProps = {
  readonly text: string;
  /** more text is coming */
  readonly open?: boolean;
};

/** Blocks per chunk: while streaming, only the last chunk renders again. */
const CHUNK = 16;

/** Markdown as React elements, never as HTML: model output cannot become scripts, markup or requests. */
export const Markdown = memo(function Markdown({ text, open = false }: MarkdownProps) {
  const read = useRef<{ readonly lexed: Lexed; readonly whole: boolean } | null>(null);
  const before = read.current;
  if (before?.lexed.text !== text || before.whole === open)
    read.current = { lexed: lexedWithMath(before?.lexed ?? null, text, !open), whole: !open };
  return <MarkdownBlocks blocks={read.current?.lexed.blocks ?? []} open={open} />;
});

type BlocksProps = { readonly blocks: readonly Token[]; readonly open: boolean };

/** Markdown that is parsed already. */
export const MarkdownBlocks = memo(function MarkdownBlocks({ blocks, open }: BlocksProps) {
  return (
    <div className="markdown" data-open={open || undefined}>
      {Array.from({ length: Math.ceil(blocks.length / CHUNK) }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a growing chunk keeps its index
        <Chunk key={index} blocks={blocks.slice(index * CHUNK, (index + 1) * CHUNK)} />
      ))}
    </div>
  );
});

const Chunk = memo(
  function Chunk({ blocks }: { blocks: readonly Token[] }) {
    return (
      <div className="md-chunk">
        {blocks.map((token, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a growing block keeps its index
          <Block key={index} token={token} />
        ))}
      </div>
    );
  },
  (before, after) =>
    before.blocks.length === after.blocks.length &&
    before.blocks.every((block, index) => block === after.blocks[index]),
);
