// SPDX-License-Identifier: Apache-2.0
// Quantities as people read them. Unknown is a dash.

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytes(amount) {
  if (amount === null || amount === undefined) return '–';
  let unit = 0;
  while (amount >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`;
}

// 41m23s, 2h05m, 3d04h; below ten seconds with one decimal.
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return '–';
  if (seconds < 10) return `${Math.max(0, seconds).toFixed(1)}s`;
  const two = (number) => String(number).padStart(2, '0');
  const whole = Math.floor(seconds);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${two(whole % 60)}s`;
  if (whole < 86400) return `${Math.floor(whole / 3600)}h${two(Math.floor((whole % 3600) / 60))}m`;
  return `${Math.floor(whole / 86400)}d${two(Math.floor((whole % 86400) / 3600))}h`;
}

export function words(name) {
  return name.replaceAll('_', ' ');
}
