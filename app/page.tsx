export default function HomePage() {
  return <h1>Isochrone</h1>;
}
