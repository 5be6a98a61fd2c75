/** Live metrics of the server. */
import { useEffect } from 'react';
import { useServer } from '../../../state/server.ts';
import { useStore } from '../../../state/store.ts';
import { Section } from '../section.tsx';
import { Chart } from './chart.tsx';
import { bytes, count, perSecond, seconds } from './format.ts';
import { followMetrics, history } from './history.ts';
import { gauge, rate } from './series.ts';

export function MetricsSection() {
  const { figures, fault } = useStore(history);
  const { id } = useServer().principal;
  useEffect(() => followMetrics(id), [id]);
  const value = figures.length === 0 ? null : figures;
  return (
    <Section title="Metrics" polled={{ value, fault, again: null }}>
      {(known) => {
        const now = known.at(-1)?.at ?? 0;
        return (
          <>
            <div className="charts">
              <Chart
                title="Turns ended"
                points={rate(known, ({ turns }) => turns)}
                format={perSecond}
                now={now}
              />
              <Chart
                title="Tokens"
                label="output"
                points={rate(known, ({ tokensOut }) => tokensOut)}
                beside={{ label: 'input', points: rate(known, ({ tokensIn }) => tokensIn) }}
                format={perSecond}
                now={now}
              />
              <Chart
                title="Event-loop delay"
                hint="99th percentile"
                points={gauge(known, ({ delay }) => delay)}
                format={seconds}
                least={0.01}
                now={now}
              />
              <Chart
                title="Memory"
                points={gauge(known, ({ memory }) => memory)}
                format={bytes}
                unit={2 ** 20}
                now={now}
              />
              <Chart
                title="Sockets"
                points={gauge(known, ({ sockets }) => sockets)}
                format={count}
                least={5}
                now={now}
              />
              <Chart
                title="Turns running"
                label="running"
                points={gauge(known, ({ turnsRunning }) => turnsRunning)}
                beside={{
                  label: 'pending approvals',
                  points: gauge(known, ({ approvalsWaiting }) => approvalsWaiting),
                }}
                format={count}
                least={5}
                now={now}
              />
            </div>
            <p className="hint">
              Updated every two seconds while this page is open, and not stored. For a history, let Prometheus
              scrape <code>/metrics</code>.
            </p>
          </>
        );
      }}
    </Section>
  );
}
