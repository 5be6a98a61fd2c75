/** Chooses a frame to start from: saved, sent before, or an example of the dialect. */
import { frameSummary } from '../../entries/frame-summary.ts';
import type { Example } from './examples.ts';
import type { StoredFrame, StoredFrames } from './stored-frames.ts';

type InsertProps = {
  readonly id: string;
  readonly examples: readonly Example[];
  readonly kept: StoredFrames;
  readonly onExample: (example: Example) => void;
  readonly onKept: (frame: StoredFrame) => void;
};

const MAX_LABEL_LENGTH = 80;

export function InsertChoice({ id, examples, kept: { saved, sent }, onExample, onKept }: InsertProps) {
  function insert(value: string): void {
    const [group, index] = value.split(' ');
    const frame = (group === 'saved' ? saved : sent)[Number(index)];
    const example = examples[Number(index)];
    if (group === 'example' && example) onExample(example);
    else if (group !== 'example' && frame) onKept(frame);
  }
  return (
    <select id={id} value="" onChange={({ currentTarget }) => insert(currentTarget.value)}>
      <option value="" disabled>
        Choose a frame
      </option>
      {saved.length > 0 && (
        <optgroup label="Saved">
          {saved.map(({ name }, index) => (
            <option key={name} value={`saved ${index}`}>
              {name}
            </option>
          ))}
        </optgroup>
      )}
      {sent.length > 0 && (
        <optgroup label="History">
          {sent.map(({ text }, index) => (
            <option key={text} value={`sent ${index}`}>
              {labelOf(text)}
            </option>
          ))}
        </optgroup>
      )}
      <optgroup label="Examples">
        {examples.map(({ name, title }, index) => (
          <option key={`${name} ${title}`} value={`example ${index}`}>
            {name}: {title}
          </option>
        ))}
      </optgroup>
    </select>
  );
}

function labelOf(frame: string): string {
  const { type, text } = frameSummary(frame);
  return (text === '' ? type : `${type}: ${text}`).slice(0, MAX_LABEL_LENGTH);
}
