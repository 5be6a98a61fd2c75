import { expect, test } from 'bun:test';
import { moved } from './moves.ts';

test('arrow keys lead to the next entry of the column, or across to the nearest of the other', () => {
  const cell = {} as never;
  const rows = [
    { key: '0', fact: cell },
    { key: '1', fact: cell, frame: cell },
    { key: '2', frame: cell },
    { key: '3', fact: cell },
  ];
  const go = (row: number, column: 'fact' | 'frame', key: string) => {
    const to = moved(rows, { row, column }, key);
    return to === null ? 'nowhere' : `${to.column} ${to.row}`;
  };
  expect(go(1, 'fact', 'ArrowDown')).toBe('fact 3');
  expect(go(3, 'fact', 'ArrowDown')).toBe('nowhere');
  expect(go(2, 'frame', 'ArrowUp')).toBe('frame 1');
  expect(go(2, 'frame', 'ArrowLeft')).toBe('fact 1');
  expect(go(0, 'fact', 'ArrowRight')).toBe('frame 1');
  expect(go(0, 'fact', 'ArrowLeft')).toBe('nowhere');
  expect(go(1, 'frame', 'End')).toBe('frame 2');
  expect(go(3, 'fact', 'Home')).toBe('fact 0');
  expect(go(0, 'fact', 'x')).toBe('nowhere');
});
