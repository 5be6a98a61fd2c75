/** Parts of an input or of a tool's output. */
import type { Link, Part } from '@parlance/protocol';
import { download, Icon } from '../components/controls.tsx';
import { Picture } from '../components/dialog.tsx';
import { ansiRuns, hasAnsi } from '../markdown/ansi.ts';
import { Markdown } from '../markdown/markdown.tsx';

const SHOWN = /^image\/(png|jpeg|gif|webp)$/;

type PartsProps = {
  readonly parts: readonly Part[];
  /** how text is shown: plain, as Markdown, or as program output */
  readonly text: 'plain' | 'markdown' | 'output';
};

export function Parts({ parts, text }: PartsProps) {
  // biome-ignore lint/suspicious/noArrayIndexKey: parts are immutable
  return parts.map((part, index) => <OnePart key={index} part={part} text={text} />);
}

function OnePart({ part, text }: { part: Part; text: PartsProps['text'] }) {
  switch (part.type) {
    case 'text':
      if (part.link) return <LinkedPart link={part.link} />;
      if (text === 'markdown') return <Markdown text={part.text} />;
      return text === 'plain' ? (
        <p className="plain" dir="auto">
          {part.text}
        </p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        <pre className="output" tabIndex={0}>
          <Output text={part.text} />
        </pre>
      );
    case 'image':
      if (!SHOWN.test(part.mime)) return <span className="chip">Image of type {part.mime}</span>;
      return <Picture src={`data:${part.mime};base64,${part.data}`} alt="Attachment" />;
    case 'file':
      return (
        <button
          type="button"
          className="button file-chip"
          title="Save file"
          onClick={() =>
            download(part.name, new Blob([fromBase64(part.data)], { type: 'application/octet-stream' }))
          }
        >
          <Icon name="file" />
          <span>{part.name}</span>
        </button>
      );
    case 'page':
      return <span className="chip">Page: {part.title || part.url}</span>;
  }
}

/** What is there is loaded by nobody but the user, with a click. */
function LinkedPart({ link: { kind, url, name } }: { link: Link }) {
  return (
    <a className="button file-chip" href={url} title={url} target="_blank" rel="noopener noreferrer nofollow">
      <Icon name={kind === 'image' ? 'image' : 'file'} />
      <span>{name ?? url}</span>
    </a>
  );
}

function Output({ text }: { text: string }) {
  if (!hasAnsi(text)) return text;
  return ansiRuns(text).map(({ text, className }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: output never changes
    <span key={index} className={className || undefined}>
      {text}
    </span>
  ));
}

const fromBase64 = (data: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
