import { expect, test } from 'bun:test';
import { moved } from './list.tsx';

test('arrow keys move within a column, or across to the nearest entry', () => {
  const cell = {} as never;
  const rows = [
    { key: '0', event: cell },
    { key: '1', event: cell, frame: cell },
    { key: '2', frame: cell },
    { key: '3', event: cell },
  ];
  const go = (row: number, column: 'event' | 'frame', key: string) => {
    const to = moved(rows, { row, column }, key);
    return to === null ? 'nowhere' : `${to.column} ${to.row}`;
  };
  expect(go(1, 'event', 'ArrowDown')).toBe('event 3');
  expect(go(3, 'event', 'ArrowDown')).toBe('nowhere');
  expect(go(2, 'frame', 'ArrowUp')).toBe('frame 1');
  expect(go(2, 'frame', 'ArrowLeft')).toBe('event 1');
  expect(go(0, 'event', 'ArrowRight')).toBe('frame 1');
  expect(go(0, 'event', 'ArrowLeft')).toBe('nowhere');
  expect(go(1, 'frame', 'End')).toBe('frame 2');
  expect(go(3, 'event', 'Home')).toBe('event 0');
  expect(go(0, 'event', 'x')).toBe('nowhere');
});
