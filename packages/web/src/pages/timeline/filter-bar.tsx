/** Search and filters of the timeline. */
import { useId, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { type Choices, EVERYTHING, type Filter } from './filter.ts';

type FilterBarProps = {
  readonly filter: Filter;
  readonly choices: Choices;
  readonly wide: boolean;
  readonly onChange: (filter: Filter) => void;
};

export function FilterBar({ filter, choices, wide, onChange }: FilterBarProps) {
  const [open, setOpen] = useState(wide);
  const more = useId();
  const { text: _text, ...chosen } = filter;
  const count = Object.values(chosen).filter((value) => value !== '').length;
  const set = (part: Partial<Filter>) => onChange({ ...filter, ...part });
  return (
    <search className="timeline-filter" aria-label="Filter">
      <input
        type="search"
        aria-label="Search events and frames"
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
