/** What the reader must know to trust what is shown: since when, who is attached, what waits and what is gone. */
import { Button } from '../../components/button.tsx';
import { Chip } from '../../components/chip.tsx';
import { Notice } from '../../components/notice.tsx';
import { clockTime } from '../../entries/cell.tsx';
import { MOST_FRAMES, type Timeline } from './feed.ts';

type StatusBarProps = {
  readonly timeline: Timeline;
  readonly indented: boolean;
  readonly onIndent: (indented: boolean) => void;
  readonly onRetry: () => void;
  readonly onClear: () => void;
};

const number = (value: number): string => value.toLocaleString('en');
const counted = (value: number, one: string): string => `${number(value)} ${one}${value === 1 ? '' : 's'}`;

export function StatusBar({ timeline, indented, onIndent, onRetry, onClear }: StatusBarProps) {
  const { connection, paused, waiting, dropped, missed, since, attached, erased, reading } = timeline;
  const attachedNow = Object.entries(attached);
  return (
    <>
      {connection.status === 'waiting' && (
        <Notice look="warning" action={<Button onClick={onRetry}>Try now</Button>}>
          The connection is gone: {connection.fault.message} Events are caught up with when it is back; frames
          that pass meanwhile are not seen.
        </Notice>
      )}
      {erased && <Notice look="warning">The session was deleted while this page was open.</Notice>}
      <div className="timeline-status">
        <p className="hint">
          Events come from the log, from the beginning. Frames are live
          {since === null ? ', as soon as we are connected' : ` since ${clockTime(since).slice(0, 8)}`}: what
          passed before was not kept.
          {attached.broadcast !== undefined &&
            ' A broadcast socket hears all sessions of its user: their frames are among these.'}
        </p>
        <p className="timeline-chips" role="status">
          {reading && <Chip look="busy">reading events</Chip>}
          {paused && (
            <Chip look="waiting">
              paused: {counted(waiting.events, 'event')} and {counted(waiting.frames, 'frame')} waiting
            </Chip>
          )}
          {dropped > 0 && (
            <Chip look="waiting" title={`The latest ${number(MOST_FRAMES)} frames are kept, up to 20 MB.`}>
              {counted(dropped, 'older frame')} let go
            </Chip>
          )}
          {missed > 0 && <Chip look="bad">{counted(missed, 'frame')} missed: they came too fast</Chip>}
          {attachedNow.map(([dialect, sockets]) => (
            <Chip key={dialect} title={`${dialect} is attached`}>
              {dialect} {sockets}
            </Chip>
          ))}
        </p>
        <label className="timeline-indent">
          <input
            type="checkbox"
            checked={indented}
            onChange={(event) => onIndent(event.currentTarget.checked)}
          />
          Indent JSON
        </label>
        {timeline.frames.length > 0 && (
          <Button look="quiet" onClick={onClear}>
            Clear frames
          </Button>
        )}
      </div>
    </>
  );
}
