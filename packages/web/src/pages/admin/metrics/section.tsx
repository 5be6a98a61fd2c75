/** The server's own figures, live. */
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
    <Section title="Metrics" whose="a developer or an admin" polled={{ value, fault, again: null }}>
      {(known) => {
        const now = known.at(-1)?.at ?? 0;
        return (
          <>
            <div className="charts">
              <Chart
                title="Turns that ended"
                points={rate(known, ({ turns }) => turns)}
                words={perSecond}
                now={now}
              />
              <Chart
                title="Tokens"
                label="given by models"
                points={rate(known, ({ tokensOut }) => tokensOut)}
                beside={{ label: 'given to them', points: rate(known, ({ tokensIn }) => tokensIn) }}
                words={perSecond}
                now={now}
              />
              <Chart
                title="Event-loop delay"
                hint="99 of 100 waits were shorter"
                points={gauge(known, ({ delay }) => delay)}
                words={seconds}
                least={0.01}
                now={now}
              />
              <Chart
                title="Memory"
                points={gauge(known, ({ memory }) => memory)}
                words={bytes}
                unit={2 ** 20}
                now={now}
              />
              <Chart
                title="Sockets"
                points={gauge(known, ({ sockets }) => sockets)}
                words={count}
                least={5}
                now={now}
              />
              <Chart
                title="Turns running"
                label="running"
                points={gauge(known, ({ turnsRunning }) => turnsRunning)}
                beside={{
                  label: 'approvals waiting',
                  points: gauge(known, ({ approvalsWaiting }) => approvalsWaiting),
                }}
                words={count}
                least={5}
                now={now}
              />
            </div>
            <p className="hint">
              Read from <code>/metrics</code> every two seconds while this is shown, and kept in this page
              alone. To keep them, have Prometheus ask for that address.
            </p>
          </>
        );
      }}
    </Section>
  );
}
