/**
 * Timeline of a session: every event from the log, and beside it the frames on its sockets since the page was opened.
 * Keys in the list: arrows, Home and End move, Enter expands, c copies, w copies as a shell command.
 */
import type { DurableEvent } from '@parlance/protocol';
import { useCallback, useMemo, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { oneLine } from '../../entries/event-summary.ts';
import { EntryList } from '../../entries/list.tsx';
import { alignedRows, eventRows, exportLines, frameRows, type NumberedFrame } from '../../entries/rows.ts';
import { download } from '../../layout/download.ts';
import { hrefOf } from '../../router.ts';
import { dialectNamed, useDialects } from '../../state/dialects.ts';
import { may } from '../../state/may.ts';
import { useServer } from '../../state/server.ts';
import { textOf } from '../chat/rows.ts';
import { ChooseSession } from './choose-session.tsx';
import { choicesOf, EVERYTHING, shownEvents, shownFrames } from './filter.ts';
import { FilterBar } from './filter-bar.tsx';
import { shellCommand } from './shell-command.ts';
import { StatusBar } from './status-bar.tsx';
import { useTimeline, useWide } from './use-timeline.ts';

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
  const wide = useWide();
  const [filter, setFilter] = useState(EVERYTHING);
  const [tab, setTab] = useState<Tab>('events');
  const [indented, setIndented] = useState(true);

  const events = useMemo(() => shownEvents(timeline.events, filter), [timeline.events, filter]);
  const frames = useMemo(() => shownFrames(timeline.frames, filter), [timeline.frames, filter]);
  const rows = useMemo(() => {
    if (wide) return alignedRows(events, frames);
    return tab === 'events' ? eventRows(events) : frameRows(frames);
  }, [wide, tab, events, frames]);
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
        <FilterBar filter={filter} choices={choices} wide={wide} onChange={setFilter} />
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
          {wide ? (
            <div className="timeline-heads">
              {TABS.map((one) => (
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
            {...(wide ? {} : { role: 'tabpanel', 'aria-labelledby': `timeline-tab-${tab}` })}
          >
            {!wide && tab === 'frames' && totals.frames === 0 ? (
              <p className="timeline-none hint">No frames since this page was opened.</p>
            ) : (
              <EntryList
                key={wide ? 'both' : tab}
                rows={rows}
                label={wide ? 'Events and frames' : TITLES[tab]}
                columns={wide ? 2 : 1}
                indented={indented}
                command={command}
              />
            )}
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
