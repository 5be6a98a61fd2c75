/** What an input or a tool's output is made of, as it is shown. */
import type { Part } from '@parlance/protocol';
import { Icon } from '../../components/icon.tsx';
import { download } from '../../layout/download.ts';
import { Markdown } from '../../markdown/markdown.tsx';

const SHOWN = /^image\/(png|jpeg|gif|webp)$/;

type PartsProps = {
  readonly parts: readonly Part[];
  /** how text is shown: as it is, as Markdown, or as the output of a program */
  readonly text: 'plain' | 'markdown' | 'output';
};

export function Parts({ parts, text }: PartsProps) {
  // biome-ignore lint/suspicious/noArrayIndexKey: parts never change once they are said
  return parts.map((part, index) => <OnePart key={index} part={part} text={text} />);
}

function OnePart({ part, text }: { part: Part; text: PartsProps['text'] }) {
  switch (part.type) {
    case 'text':
      if (text === 'markdown') return <Markdown text={part.text} />;
      return text === 'plain' ? (
        <p className="plain">{part.text}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        <pre className="output" tabIndex={0}>
          {part.text}
        </pre>
      );
    case 'image':
      if (!SHOWN.test(part.mime)) return <span className="chip">A picture of type {part.mime}</span>;
      return (
        <img className="picture" src={`data:${part.mime};base64,${part.data}`} alt="Attached by the sender" />
      );
    case 'file':
      return (
        <button
          type="button"
          className="button file-chip"
          title="Save the file"
          onClick={() =>
            download(part.name, new Blob([fromBase64(part.data)], { type: 'application/octet-stream' }))
          }
        >
          <Icon name="file" />
          {part.name}
        </button>
      );
  }
}

const fromBase64 = (data: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
