/** State of the feed: start of the frames, attached clients, pending and dropped frames. */
import { Button } from '../../components/button.tsx';
import { Chip } from '../../components/chip.tsx';
import { DriverChip } from '../../components/driver-chip.tsx';
import { Notice } from '../../components/notice.tsx';
import { clockTime } from '../../entries/cell.tsx';
import { useDisconnectedLately } from '../../state/activity.ts';
import { isRunning, MAX_FRAMES, type Timeline } from './feed.ts';

type StatusBarProps = {
  readonly session: string;
  readonly timeline: Timeline;
  readonly indented: boolean;
  readonly onIndent: (indented: boolean) => void;
  readonly onRetry: () => void;
  readonly onClear: () => void;
};

const number = (value: number): string => value.toLocaleString('en');
const counted = (value: number, one: string): string => `${number(value)} ${one}${value === 1 ? '' : 's'}`;

export function StatusBar({ session, timeline, indented, onIndent, onRetry, onClear }: StatusBarProps) {
  const { connection, paused, waiting, dropped, missed, since, attached, erased, reading } = timeline;
  const isDisconnected = useDisconnectedLately();
  const attachedNow = Object.entries(attached);
  return (
    <>
      {connection.status === 'waiting' && !isDisconnected && (
        <Notice variant="warning" action={<Button onClick={onRetry}>Try now</Button>}>
          Disconnected: {connection.fault.message} Events are loaded after reconnecting; frames sent meanwhile
          are missed.
        </Notice>
      )}
      {erased && <Notice variant="warning">The session was deleted while this page was open.</Notice>}
      <div className="timeline-status">
        <p className="hint">
          Events are complete. Frames are live{' '}
          {since === null ? 'once connected' : `since ${clockTime(since).slice(0, 8)}`}; earlier frames are
          not stored.
          {attached.broadcast !== undefined &&
            ' A broadcast socket receives all sessions of its user, so their frames appear here, too.'}
        </p>
        <p className="timeline-chips" role="status">
          {reading && <Chip variant="busy">reading events</Chip>}
          {paused && (
            <Chip variant="waiting">
              paused: {counted(waiting.events, 'event')} and {counted(waiting.frames, 'frame')} waiting
            </Chip>
          )}
          {dropped > 0 && (
            <Chip variant="waiting" title={`Keeps the latest ${number(MAX_FRAMES)} frames, up to 20 MB.`}>
              {counted(dropped, 'older frame')} dropped
            </Chip>
          )}
          {missed > 0 && <Chip variant="bad">{counted(missed, 'frame')} missed (too fast)</Chip>}
          <DriverChip session={session} running={isRunning(timeline.events)} />
          {attachedNow.map(([dialect, sockets]) => (
            <Chip key={dialect} title={`Attached ${dialect} connections`}>
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
          <Button variant="quiet" onClick={onClear}>
            Clear frames
          </Button>
        )}
      </div>
    </>
  );
}
