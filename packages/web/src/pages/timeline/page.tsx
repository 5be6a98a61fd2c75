/**
 * Timeline of a session: every event from the log, and beside it the frames on its sockets since the page was opened.
 * Keys in the list: arrows, Home and End move, Enter expands, c copies, w copies as a shell command.
 */
import type { DurableEvent } from '@parlance/protocol';
import { textOf } from '@parlance/ui/chat/rows.ts';
import { Button, Chip, Choice, download, Empty, Notice } from '@parlance/ui/components/controls.tsx';
import { onActivity, useDisconnectedLately, useShownFault } from '@parlance/ui/state/activity.ts';
import { may } from '@parlance/ui/state/may.ts';
import { hrefOf, useLocation } from '@parlance/ui/state/router.ts';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { useSessions } from '@parlance/ui/state/sessions.ts';
import { useMedia } from '@parlance/ui/state/store.ts';
import { useCallback, useEffect, useId, useMemo, useState, useSyncExternalStore } from 'react';
import { DriverChip } from '../../components/driver.tsx';
import { Page } from '../../components/page.tsx';
import { clockTime } from '../../entries/cell.tsx';
import { EntryList } from '../../entries/list.tsx';
import { alignedRows, eventRows, exportLines, frameRows, type NumberedFrame } from '../../entries/rows.ts';
import { oneLine } from '../../entries/summary.ts';
import { dialectNamed, useDialects } from '../../state/dialects.ts';
import { isRunning, MAX_FRAMES, NOTHING_YET, type Timeline, TimelineFeed } from './feed.ts';
import { type Choices, choicesOf, EVERYTHING, type Filter, shownEvents, shownFrames } from './filter.ts';
import { shellCommand } from './shell-commands.ts';
import { Turns } from './waterfall.tsx';

export function TimelinePage({ id }: { id: string | null }) {
  return id === null ? <ChooseSession /> : <SessionTimeline id={id} />;
}

type Tab = 'events' | 'frames';
const TABS: readonly Tab[] = ['events', 'frames'];

function SessionTimeline({ id }: { id: string }) {
  const { timeline, feed } = useTimeline(id);
  const about = useServer();
  const { auth } = about;
  const dialects = useDialects();
  const isBroad = useMedia('(min-width: 1000px)');
  const { event } = useLocation().query;
  const [target, setTarget] = useState(() => (event === undefined ? null : { seq: Number(event) }));
  const [filter, setFilter] = useState(EVERYTHING);
  const [tab, setTab] = useState<Tab>('events');
  const [indented, setIndented] = useState(true);

  const hasFrames = timeline.frames.length > 0;
  const wide = isBroad && hasFrames;
  const events = useMemo(() => shownEvents(timeline.events, filter), [timeline.events, filter]);
  const frames = useMemo(() => shownFrames(timeline.frames, filter), [timeline.frames, filter]);
  const rows = useMemo(() => {
    if (wide) return alignedRows(events, frames);
    return tab === 'events' || !hasFrames ? eventRows(events) : frameRows(frames);
  }, [wide, tab, hasFrames, events, frames]);
  const choices = useMemo(
    () => choicesOf(timeline.events, timeline.frames, filter),
    [timeline.events, timeline.frames, filter],
  );
  const command = useCallback(
    ({ dialect, direction, text }: NumberedFrame) =>
      shellCommand({
        origin: location.origin,
        dialect: dialectNamed(dialects, dialect),
        session: id,
        text: direction === 'in' ? text : null,
        tokenRequired: auth === 'required',
      }),
    [id, auth, dialects],
  );

  const show = (seq: number) => {
    setFilter(EVERYTHING);
    setTab('events');
    setTarget({ seq });
  };
  const exportShown = () => {
    const lines = exportLines(alignedRows(events, frames));
    download(`${id}.timeline.jsonl`, new Blob([lines], { type: 'application/jsonl' }));
  };
  const title = useMemo(() => titleIn(timeline.events), [timeline.events]);
  const counts = { events: events.length, frames: frames.length };
  const totals = { events: timeline.events.length, frames: timeline.frames.length };

  return (
    <Page
      title={title === '' ? 'Timeline' : `Timeline: ${title}`}
      filled
      actions={
        <>
          <a className="button button-quiet" href={hrefOf({ page: 'session', id })}>
            Chat
          </a>
          {may(about, 'tool:approve') && (
            <a
              className="button button-quiet playground-wide"
              href={hrefOf({ page: 'playground' }, { session: id })}
            >
              Playground
            </a>
          )}
          <Button
            icon="download"
            title="Download the shown events and frames as JSON lines"
            disabled={events.length + frames.length === 0}
            onClick={exportShown}
          >
            <span className="timeline-long">Export</span>
          </Button>
          <Button
            aria-pressed={timeline.paused}
            variant={timeline.paused ? 'primary' : 'plain'}
            onClick={() => feed?.pause(!timeline.paused)}
          >
            {timeline.paused ? 'Resume' : 'Pause'}
          </Button>
        </>
      }
    >
      <div className="timeline-top">
        <FilterBar
          filter={filter}
          choices={choices}
          wide={isBroad}
          hasFrames={hasFrames}
          onChange={setFilter}
        />
        <StatusBar
          session={id}
          timeline={timeline}
          indented={indented}
          onIndent={setIndented}
          onRetry={() => feed?.retryNow()}
          onClear={() => feed?.clearFrames()}
        />
      </div>
      {timeline.fault && timeline.events.length === 0 ? (
        <Empty
          title={timeline.fault.code === 'not_found' ? 'Session not found' : 'Cannot open the timeline'}
          action={<a href={hrefOf({ page: 'timeline', id: null })}>Choose another session</a>}
        >
          {timeline.fault.message} <code>{id}</code>
        </Empty>
      ) : (
        <>
          <Turns session={id} events={timeline.events} onShow={show} />
          {wide || !hasFrames ? (
            <div className="timeline-heads" data-one={!hasFrames || undefined}>
              {TABS.filter((one) => one === 'events' || hasFrames).map((one) => (
                <h2 key={one}>
                  {TITLES[one]} <Count shown={counts[one]} total={totals[one]} />
                </h2>
              ))}
            </div>
          ) : (
            <div className="timeline-tabs" role="tablist" aria-label="What to show">
              {TABS.map((one) => (
                <button
                  key={one}
                  type="button"
                  role="tab"
                  id={`timeline-tab-${one}`}
                  aria-selected={tab === one}
                  aria-controls="timeline-panel"
                  onClick={() => setTab(one)}
                >
                  {TITLES[one]} <Count shown={counts[one]} total={totals[one]} />
                </button>
              ))}
            </div>
          )}
          <div
            className="timeline-panel"
            id="timeline-panel"
            {...(wide || !hasFrames ? {} : { role: 'tabpanel', 'aria-labelledby': `timeline-tab-${tab}` })}
          >
            <EntryList
              key={wide ? 'both' : tab}
              rows={rows}
              label={wide ? 'Events and frames' : TITLES[hasFrames ? tab : 'events']}
              columns={wide ? 2 : 1}
              indented={indented}
              command={command}
              target={target}
            />
          </div>
        </>
      )}
    </Page>
  );
}

/** The last title in the log, or else the first message. */
function titleIn(events: readonly DurableEvent[]): string {
  const renamed = events.findLast((event) => event.type === 'session.renamed');
  if (renamed) return renamed.title;
  const input = events.find((event) => event.type === 'input.accepted');
  return input ? oneLine(textOf(input.parts)) : '';
}

const TITLES: Readonly<Record<Tab, string>> = { events: 'Events', frames: 'Frames' };

function Count({ shown, total }: { shown: number; total: number }) {
  const number = (value: number) => value.toLocaleString('en');
  return (
    <span className="timeline-count">
      {shown === total ? number(total) : `${number(shown)} of ${number(total)}`}
    </span>
  );
}

/** Choose the session of the timeline. */
function ChooseSession() {
  const [query, setQuery] = useState('');
  const { sessions, hasMore, loading, more, ...list } = useSessions({ query, archived: false });
  const fault = useShownFault(list.fault);
  return (
    <Page title="Timeline">
      <p className="hint">
        Choose a session to see its events and, side by side, the exact frames on its sockets.
      </p>
      <label className="field timeline-search">
        <span className="unseen">Search sessions</span>
        <input
          type="search"
          placeholder="Search sessions"
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
        />
      </label>
      {fault && <Empty title="Cannot load sessions">{fault.message}</Empty>}
      {!list.fault && !loading && sessions.length === 0 && (
        <Empty
          title={query === '' ? 'No sessions yet' : 'No matching sessions'}
          action={<a href={hrefOf({ page: 'new' })}>Start a session</a>}
        />
      )}
      <ul className="timeline-sessions" aria-label="Sessions">
        {sessions.map(({ id, title, dialect, head, attached }) => (
          <li key={id}>
            <a href={hrefOf({ page: 'timeline', id })}>{title || id}</a>
            <span className="hint">
              {head.toLocaleString('en')} events, created by {dialect}
            </span>
            {Object.keys(attached).map((name) => (
              <Chip key={name} variant="good">
                {name}
              </Chip>
            ))}
          </li>
        ))}
      </ul>
      {hasMore && <Button onClick={more}>More</Button>}
    </Page>
  );
}

// Search and filters of the timeline.

type FilterBarProps = {
  readonly filter: Filter;
  readonly choices: Choices;
  readonly wide: boolean;
  readonly hasFrames: boolean;
  readonly onChange: (filter: Filter) => void;
};

function FilterBar({ filter, choices, wide, hasFrames, onChange }: FilterBarProps) {
  const [open, setOpen] = useState(wide);
  const more = useId();
  const { text: _text, ...chosen } = filter;
  const count = Object.values(chosen).filter((value) => value !== '').length;
  const set = (part: Partial<Filter>) => onChange({ ...filter, ...part });
  return (
    <search className="timeline-filter" aria-label="Filter">
      <input
        type="search"
        aria-label={hasFrames ? 'Search events and frames' : 'Search events'}
        placeholder="Search"
        value={filter.text}
        onChange={(event) => set({ text: event.currentTarget.value })}
      />
      <Button aria-expanded={open} aria-controls={more} onClick={() => setOpen(!open)}>
        Filters{count > 0 ? ` (${count})` : ''}
      </Button>
      {(count > 0 || filter.text !== '') && (
        <Button variant="quiet" onClick={() => onChange(EVERYTHING)}>
          Clear filters
        </Button>
      )}
      <div id={more} className="timeline-choices" hidden={!open}>
        <Values
          label="Event type"
          value={filter.eventType}
          values={choices.eventTypes}
          onChange={(eventType) => set({ eventType })}
        />
        {hasFrames && (
          <>
            <Values
              label="Dialect"
              value={filter.dialect}
              values={choices.dialects}
              onChange={(dialect) => set({ dialect, connection: '', frameType: '' })}
            />
            <Values
              label="Connection"
              value={filter.connection}
              values={choices.connections}
              onChange={(connection) => set({ connection })}
            />
            <Choice label="Direction">
              {(id) => (
                <select
                  id={id}
                  value={filter.direction}
                  onChange={({ currentTarget: { value } }) =>
                    set({ direction: value === 'in' || value === 'out' ? value : '' })
                  }
                >
                  <option value="">both directions</option>
                  <option value="in">from clients</option>
                  <option value="out">to clients</option>
                </select>
              )}
            </Choice>
            <Values
              label="Frame type"
              value={filter.frameType}
              values={choices.frameTypes}
              onChange={(frameType) => set({ frameType })}
            />
          </>
        )}
      </div>
    </search>
  );
}

type ValuesProps = {
  readonly label: string;
  readonly value: string;
  readonly values: readonly string[];
  readonly onChange: (value: string) => void;
};

function Values({ label, value, values, onChange }: ValuesProps) {
  return (
    <Choice label={label}>
      {(id) => (
        <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">all</option>
          {values.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      )}
    </Choice>
  );
}

// State of the feed: start of the frames, attached clients, pending and dropped frames.

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

function StatusBar({ session, timeline, indented, onIndent, onRetry, onClear }: StatusBarProps) {
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
          {timeline.frames.length === 0
            ? 'Frames of clients that are connected appear beside the events.'
            : `Events are complete. Frames are live ${since === null ? 'once connected' : `since ${clockTime(since).slice(0, 8)}`}; earlier frames are not stored.`}
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

// The timeline feed of one session, for the lifetime of the page.

const silent = () => () => undefined;
const nothing = () => NOTHING_YET;

/** Use `key={id}` on the component that calls this. The feed is null before the first effect. */
function useTimeline(id: string): { timeline: Timeline; feed: TimelineFeed | null } {
  const [feed, setFeed] = useState<TimelineFeed | null>(null);
  useEffect(() => {
    const opened = new TimelineFeed(parlance.session(id), onActivity);
    setFeed(opened);
    return () => opened.close();
  }, [id]);
  const timeline = useSyncExternalStore(feed?.subscribe ?? silent, feed?.get ?? nothing);
  return { timeline, feed };
}
