/** A turn as a waterfall of steps, calls and sub-agents, and two turns compared. */
import type { DurableEvent } from '@parlance/protocol';
import { dollars, duration, shortNumber } from '@parlance/ui/chat/cost.ts';
import { Choice, Icon, Notice } from '@parlance/ui/components/controls.tsx';
import { go, hrefOf, useLocation } from '@parlance/ui/state/router.ts';
import { parlance } from '@parlance/ui/state/server.ts';
import { useEffect, useMemo, useState } from 'react';
import { type Span, type TurnSpans, turnsOf } from './waterfall.ts';

type TurnsProps = {
  readonly session: string;
  readonly events: readonly DurableEvent[];
  /** shows the event in the list below */
  readonly onShow: (seq: number) => void;
};

export function Turns({ session, events, onShow }: TurnsProps) {
  const { query } = useLocation();
  const turns = useMemo(() => turnsOf(events), [events]);
  // The link at a message names its event, the one at the end of a turn the turn.
  const shown =
    turns.find(({ turn, inputSeq }) => turn === query.turn || String(inputSeq) === query.event) ??
    turns.at(-1);
  const other = turns.find(({ turn }) => turn === query.with && turn !== shown?.turn);
  if (!shown) return null;
  const choose = (next: { turn?: string; with?: string }) => {
    const { turn = shown.turn, with: compared = other?.turn ?? '' } = next;
    go({ page: 'timeline', id: session }, { turn, ...(compared !== '' && { with: compared }) }, 'replace');
  };
  const optionsOf = (left: readonly TurnSpans[]) =>
    left.map((turn) => (
      <option key={turn.turn} value={turn.turn}>
        {turns.indexOf(turn) + 1}. {turn.label.slice(0, 60)}
      </option>
    ));
  const length = Math.max(lengthOf(shown), other ? lengthOf(other) : 0, 1);
  return (
    <section className="waterfall" aria-label="Turn">
      <div className="waterfall-choices">
        <Choice label="Turn">
          {(id) => (
            <select id={id} value={shown.turn} onChange={({ target }) => choose({ turn: target.value })}>
              {optionsOf(turns)}
            </select>
          )}
        </Choice>
        {turns.length > 1 && (
          <Choice label="Compare with">
            {(id) => (
              <select
                id={id}
                value={other?.turn ?? ''}
                onChange={({ target }) => choose({ with: target.value })}
              >
                <option value="">nothing</option>
                {optionsOf(turns.filter((turn) => turn !== shown))}
              </select>
            )}
          </Choice>
        )}
      </div>
      {other && <Comparison one={shown} other={other} />}
      <div className={other ? 'waterfall-two' : undefined}>
        <Waterfall turn={shown} length={length} onShow={onShow} />
        {other && <Waterfall turn={other} length={length} onShow={onShow} />}
      </div>
    </section>
  );
}

const endOf = ({ from, to, spans }: TurnSpans): number =>
  to ?? spans.reduce((last, span) => Math.max(last, span.from, span.to ?? 0), from);

const lengthOf = (turn: TurnSpans): number => endOf(turn) - turn.from;

type WaterfallProps = {
  readonly turn: TurnSpans;
  /** of the time that the whole width stands for, in milliseconds */
  readonly length: number;
  readonly onShow: (seq: number) => void;
};

function Waterfall({ turn, length, onShow }: WaterfallProps) {
  const { label, agent, model, from, to, seq, spans, tokens, cost } = turn;
  const scale = { from, length, end: endOf(turn) };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <div className="waterfall-scroll" tabIndex={0}>
      <table>
        <caption>
          {label} <span className="hint">{[agent, model].filter(Boolean).join(', ')}</span>
        </caption>
        <thead className="waterfall-head">
          <tr>
            <th scope="col">Part</th>
            <th scope="col" className="waterfall-time">
              Time
            </th>
            <th scope="col">Duration</th>
            <th scope="col" className="waterfall-wide">
              Tokens
            </th>
            <th scope="col" className="waterfall-wide">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          <Row
            span={{ ...WHOLE, seq, from, to, tokens, cost, label: 'Turn' }}
            scale={scale}
            className="waterfall-turn"
            onShow={onShow}
          />
          {spans.map((span) => (
            <SpanRows key={`${span.kind} ${span.key}`} span={span} scale={scale} onShow={onShow} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const WHOLE = { key: '', kind: 'step', depth: 0, problem: null, child: null } as const;

type Scale = { readonly from: number; readonly length: number; readonly end: number };
type RowProps = {
  readonly span: Span;
  readonly scale: Scale;
  readonly className?: string;
  /** of another session: opens its timeline instead */
  readonly session?: string;
  /** further to the right */
  readonly inset?: number;
  readonly onShow?: (seq: number) => void;
  readonly toggle?: { readonly isOpen: boolean; readonly run: () => void };
};

function Row({ span, scale, className, session, inset = 0, onShow, toggle }: RowProps) {
  const { kind, label, from, to, depth, problem, tokens, cost, seq } = span;
  const end = to ?? scale.end;
  const at = (time: number) => Math.min(100, Math.max(0, ((time - scale.from) / scale.length) * 100));
  return (
    <tr className={className}>
      <th scope="row" style={{ paddingInlineStart: `${(depth + inset) * 16 + 4}px` }}>
        {toggle && (
          <button
            type="button"
            className="waterfall-toggle"
            aria-expanded={toggle.isOpen}
            aria-label={`Sub-agent of ${label}`}
            onClick={toggle.run}
          >
            <span className="fold-mark" data-open={toggle.isOpen || undefined}>
              <Icon name="chevron" />
            </span>
          </button>
        )}
        {session === undefined ? (
          <button
            type="button"
            className="waterfall-name"
            title={`Show event ${seq}`}
            onClick={() => onShow?.(seq)}
          >
            {label}
          </button>
        ) : (
          <a href={hrefOf({ page: 'timeline', id: session })}>{label}</a>
        )}
        {problem !== null && <span className="waterfall-problem"> {problem}</span>}
      </th>
      <td className="waterfall-time">
        <div className="waterfall-track">
          <div
            className={`waterfall-bar waterfall-${problem === null ? kind : 'problem'}`}
            style={{ insetInlineStart: `${at(from)}%`, inlineSize: `${Math.max(0.4, at(end) - at(from))}%` }}
          />
        </div>
      </td>
      <td>{to === null ? 'running' : duration(to - from)}</td>
      <td className="waterfall-wide">{tokens === null || tokens === 0 ? '' : shortNumber(tokens)}</td>
      <td className="waterfall-wide">{cost === null ? '' : dollars(cost)}</td>
    </tr>
  );
}

function SpanRows({ span, scale, onShow }: Pick<RowProps, 'span' | 'scale'> & Pick<TurnsProps, 'onShow'>) {
  const [isOpen, setIsOpen] = useState(false);
  const { child } = span;
  return (
    <>
      <Row
        span={span}
        scale={scale}
        onShow={onShow}
        {...(child !== null && { toggle: { isOpen, run: () => setIsOpen(!isOpen) } })}
      />
      {child !== null && isOpen && <SubAgent session={child} span={span} scale={scale} />}
    </>
  );
}

/** What the sub-agent did during the call, read when it is opened. */
function SubAgent({ session, span, scale }: { session: string } & Pick<RowProps, 'span' | 'scale'>) {
  const [turns, setTurns] = useState<readonly TurnSpans[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    Array.fromAsync(parlance.session(session).history({ signal: stop.signal })).then(
      (events) => !stop.signal.aborted && setTurns(turnsOf(events)),
      (thrown: unknown) =>
        !stop.signal.aborted && setProblem(thrown instanceof Error ? thrown.message : String(thrown)),
    );
    return () => stop.abort();
  }, [session]);
  if (problem !== null)
    return (
      <tr>
        <td colSpan={5}>
          <Notice variant="warning">{problem}</Notice>
        </td>
      </tr>
    );
  const end = span.to ?? scale.end;
  return turns
    ?.filter((turn) => turn.from <= end && endOf(turn) >= span.from)
    .flatMap((turn) => [
      <Row
        key={turn.turn}
        span={{ ...WHOLE, ...turn, label: turn.agent }}
        scale={scale}
        session={session}
        inset={1}
        className="waterfall-turn"
      />,
      ...turn.spans.map((inner) => (
        <Row
          key={`${turn.turn} ${inner.kind} ${inner.key}`}
          span={inner}
          scale={scale}
          session={session}
          inset={2}
        />
      )),
    ]);
}

/** The second turn against the first. */
function Comparison({ one, other }: { readonly one: TurnSpans; readonly other: TurnSpans }) {
  const rows: readonly [string, number | null, number | null, (value: number) => string][] = [
    ['Duration', lengthOf(one), lengthOf(other), duration],
    ['Steps', one.steps, other.steps, String],
    ['Calls', one.calls, other.calls, String],
    ['Tokens', one.tokens, other.tokens, shortNumber],
    ['Cost', one.cost, other.cost, dollars],
  ];
  return (
    <table className="waterfall-comparison">
      <caption className="unseen">Both turns</caption>
      <thead>
        <tr>
          <td />
          <th scope="col">This turn</th>
          <th scope="col">The other</th>
          <th scope="col">Difference</th>
        </tr>
      </thead>
      <tbody>
        {rows
          .filter(([, first, second]) => first !== null || second !== null)
          .map(([name, first, second, shown]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{first === null ? '–' : shown(first)}</td>
              <td>{second === null ? '–' : shown(second)}</td>
              <td>{first === null || second === null ? '' : difference(second - first, shown)}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

const difference = (by: number, shown: (value: number) => string): string =>
  by === 0 ? 'the same' : `${by > 0 ? '+' : '−'}${shown(Math.abs(by))}`;
