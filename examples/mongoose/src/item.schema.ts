import { Prop, Schema } from '@nestjs/mongoose';

@Schema()
export class Item {
  @Prop({ type: String, required: true }) name!: string;
}
