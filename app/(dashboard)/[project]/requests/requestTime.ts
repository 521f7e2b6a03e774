/** When a request started, to the millisecond, in the project's zone. */
export function requestTime(text: string, timeZone: string): string {
  const date = new Date(text);
  const day = date.toLocaleDateString('en-GB', { timeZone, day: '2-digit', month: 'short', year: 'numeric' });
  const time = date.toLocaleTimeString('en-GB', {
    ...{ timeZone, hour: '2-digit', minute: '2-digit', second: '2-digit' },
    fractionalSecondDigits: 3,
  });
  return `${day}, ${time}`;
}
