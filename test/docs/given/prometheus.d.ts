// What docs/prometheus.md leaves out.
declare module '@willsoto/nestjs-prometheus' {
  export class PrometheusModule {
    static register(): import('@nestjs/common').DynamicModule;
  }
}
