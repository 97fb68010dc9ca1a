(* The residual filter: what an analyst who picks each step by all outputs so
   far reaches within a budget (docs/theory/adaptive.md, Theorem 1), for finite
   outputs. *)

From Coq Require Import Reals Lra List Lia Arith.
From Proofs Require Import Laws.
Import ListNotations.
Open Scope R_scope.

(* An analyst is a tree: it stops, tosses a coin whose law is the same under
   both data sets, or runs a mechanism as a type of the menu. The mechanism
   itself, and all that follows, may depend on everything seen so far. *)
Inductive analyst :=
  | Stop
  | Toss (coin : list (R * analyst))
  | Run (type : nat) (outputs : list (R * R * analyst)).

Definition scale (p q : R) (A : pair) : pair :=
  map (fun o => (p * fst o, q * snd o)) A.

(* The pair of laws of the whole transcript, coins included. *)
Fixpoint transcript (a : analyst) : pair :=
  match a with
  | Stop => [(1, 1)]
  | Toss coin =>
      flat_map (fun o => scale (fst o) (fst o) (transcript (snd o))) coin
  | Run _ outputs =>
      flat_map (fun o => scale (fst (fst o)) (snd (fst o)) (transcript (snd o)))
        outputs
  end.

(* A menu has a cost and a dominating pair for each type. *)
Definition menu := list (nat * pair).

(* within m b a: with b units left, a runs a type only if its cost is at most
   what is left, which is checked before it runs, and only mechanisms whose
   pair is dominated by that of the type at every t > 0. *)
Inductive within (m : menu) : nat -> analyst -> Prop :=
  | within_stop b : within m b Stop
  | within_toss b coin :
      (forall o, In o coin -> 0 <= fst o) -> sum fst coin = 1 ->
      (forall o, In o coin -> within m b (snd o)) ->
      within m b (Toss coin)
  | within_run b i c D outputs :
      nth_error m i = Some (c, D) -> (c <= b)%nat ->
      law (map fst outputs) -> dominated (map fst outputs) D ->
      (forall o, In o outputs -> within m (b - c) (snd o)) ->
      within m b (Run i outputs).

Definition laws (m : menu) := forall c D, In (c, D) m -> law D.

(* Profiles r b, one for each number of units left, that pay for every step. *)
Record residual (m : menu) (r : nat -> R -> R) : Prop := {
  residual_profile : forall b, profile (r b);
  residual_step : forall b c D t, In (c, D) m -> (c <= b)%nat -> 0 <= t ->
    star (r (b - c)%nat) D t <= r b t
}.

Lemma scale_sum (f : R * R -> R) p q A :
  sum f (scale p q A) = sum (fun o => f (p * fst o, q * snd o)) A.
Proof. apply sum_map. Qed.

Lemma transcript_law m b a : within m b a -> law (transcript a).
Proof.
  induction 1 as [b|b coin Hp HP W IH|b i c D outputs Hi Hc L DD W IH]; cbn [transcript].
  - split; cbn; try (intros o [<-|[]]; cbn; lra); lra.
  - split.
    1, 2: intros x Hx; apply in_flat_map in Hx; destruct Hx as (o & Ho & Hx);
      apply in_map_iff in Hx; destruct Hx as (y & <- & Hy); cbn [fst snd];
      apply Rmult_le_pos; [apply Hp, Ho|];
      (apply (law_p _ (IH o Ho)) || apply (law_q _ (IH o Ho))); exact Hy.
    + rewrite sum_flat_map, <- HP; apply sum_ext; intros o Ho.
      rewrite scale_sum; cbn [fst]; rewrite sum_scal, (law_P _ (IH o Ho)); ring.
    + rewrite sum_flat_map, <- HP; apply sum_ext; intros o Ho.
      rewrite scale_sum; cbn [snd]; rewrite sum_scal, (law_Q _ (IH o Ho)); ring.
  - destruct L as [Lp Lq LP LQ]; rewrite sum_map in LP, LQ.
    assert (Hp : forall o, In o outputs -> 0 <= fst (fst o) /\ 0 <= snd (fst o))
      by (intros o Ho; split; [apply Lp|apply Lq]; apply in_map, Ho).
    split.
    1, 2: intros x Hx; apply in_flat_map in Hx; destruct Hx as (o & Ho & Hx);
      apply in_map_iff in Hx; destruct Hx as (y & <- & Hy); cbn [fst snd];
      apply Rmult_le_pos; [apply Hp, Ho|];
      (apply (law_p _ (IH o Ho)) || apply (law_q _ (IH o Ho))); exact Hy.
    + rewrite sum_flat_map, <- LP; apply sum_ext; intros o Ho.
      rewrite scale_sum; cbn [fst]; rewrite sum_scal, (law_P _ (IH o Ho)); ring.
    + rewrite sum_flat_map, <- LQ; apply sum_ext; intros o Ho.
      rewrite scale_sum; cbn [snd]; rewrite sum_scal, (law_Q _ (IH o Ho)); ring.
Qed.

(* Theorem 1. *)
Theorem residual_filter m r : laws m -> residual m r ->
  forall b a, within m b a -> forall t, 0 <= t -> H (transcript a) t <= r b t.
Proof.
  intros L [Rp Rs] b a W.
  induction W as [b|b coin Hp HP W IH|b i c D outputs Hi Hc LO DD W IH];
    intros t Ht; cbn [transcript].
  - unfold H; cbn [sum fst snd]; rewrite Rmult_1_r, Rplus_0_r.
    apply (profile_low _ (Rp b)), Ht.
  - apply Rle_trans with (sum (fun o => fst o * r b t) coin).
    + unfold H; rewrite sum_flat_map; apply sum_le; intros o Ho.
      rewrite scale_sum; cbn [fst snd].
      apply Rle_trans with (fst o * H (transcript (snd o)) t);
        [|apply Rmult_le_compat_l; auto].
      unfold H; rewrite <- sum_scal; apply Req_le, sum_ext; intros x Hx.
      rewrite <- pos_scale by auto; f_equal; ring.
    + rewrite (sum_ext _ (fun o => r b t * fst o)) by (intros; ring).
      rewrite sum_scal, HP; lra.
  - pose proof (nth_error_In _ _ Hi) as Hin.
    pose proof LO as [Lp Lq _ _].
    apply Rle_trans with (star (r (b - c)%nat) (map fst outputs) t).
    + unfold H, star; rewrite sum_flat_map, sum_map; apply sum_le; intros o Ho.
      assert (Hpq : 0 <= fst (fst o) /\ 0 <= snd (fst o))
        by (split; [apply Lp|apply Lq]; apply in_map, Ho).
      rewrite scale_sum; cbn [fst snd].
      rewrite branch; try tauto.
      * apply Rmult_le_compat_l; [tauto|]; apply IH; [exact Ho|apply quot_ge0; tauto].
      * apply (law_q _ (transcript_law _ _ _ (W o Ho))).
    + apply Rle_trans with (star (r (b - c)%nat) D t).
      * apply star_dominated; auto; apply (L c), Hin.
      * apply Rs; auto.
Qed.

(* The price R_b of the recursion. fuel bounds the depth; more than b of it
   changes nothing, as every type costs at least one unit. *)
Fixpoint price_in (fuel : nat) (m : menu) (b : nat) (t : R) : R :=
  match fuel with
  | O => pos (1 - t)
  | S n =>
      fold_right (fun type v =>
          if (fst type <=? b)%nat
          then Rmax (star (price_in n m (b - fst type)) (snd type) t) v else v)
        (match b with O => pos (1 - t) | S b' => price_in n m b' t end) m
  end.

Definition price (m : menu) (b : nat) : R -> R := price_in b m b.

Lemma profile_hockey : profile (fun t => pos (1 - t)).
Proof.
  split.
  - rewrite pos_id; lra.
  - intros; apply pos_mono; lra.
  - intros l s t Hl _ _.
    replace (1 - (l * s + (1 - l) * t)) with (l * (1 - s) + (1 - l) * (1 - t)) by ring.
    apply pos_convex, Hl.
  - intros; lra.
Qed.

Lemma profile_max r r' : profile r -> profile r' -> profile (fun t => Rmax (r t) (r' t)).
Proof.
  intros [A0 Ad Ac Al] [B0 Bd Bc Bl]; split.
  - rewrite A0, B0; apply Rmax_left; lra.
  - intros s t Hst; apply Rmax_lub.
    + eapply Rle_trans; [apply Ad, Hst|apply Rmax_l].
    + eapply Rle_trans; [apply Bd, Hst|apply Rmax_r].
  - intros l s t Hl Hs Ht; apply Rmax_lub.
    + eapply Rle_trans; [apply Ac; auto|].
      apply Rplus_le_compat; apply Rmult_le_compat_l; try lra; apply Rmax_l.
    + eapply Rle_trans; [apply Bc; auto|].
      apply Rplus_le_compat; apply Rmult_le_compat_l; try lra; apply Rmax_r.
  - intros t Ht; eapply Rle_trans; [apply Al, Ht|apply Rmax_l].
Qed.

Lemma price_in_profile m n : laws m -> forall b, profile (price_in n m b).
Proof.
  intro L; induction n as [|n IH]; intro b; cbn [price_in]; [apply profile_hockey|].
  assert (B : profile (fun t =>
    match b with O => pos (1 - t) | S b' => price_in n m b' t end))
    by (destruct b; [apply profile_hockey|apply IH]).
  assert (E : forall base l, profile base -> (forall x, In x l -> In x m) ->
    profile (fun t => fold_right (fun type v => if (fst type <=? b)%nat
      then Rmax (star (price_in n m (b - fst type)) (snd type) t) v else v)
      (base t) l)).
  2: exact (E _ m B (fun x Hx => Hx)).
  clear B; intros base l B.
  induction l as [|[c D] l IHl]; cbn [fold_right fst snd]; intro Hl; [exact B|].
  destruct (c <=? b)%nat; [|apply IHl; intros; apply Hl; right; auto].
  apply profile_max; [|apply IHl; intros; apply Hl; right; auto].
  apply star_profile; [apply IH|apply (L c), Hl; left; reflexivity].
Qed.

Lemma price_in_fuel m : (forall c D, In (c, D) m -> (1 <= c)%nat) ->
  forall n n' b t, (b <= n)%nat -> (b <= n')%nat ->
  price_in n m b t = price_in n' m b t.
Proof.
  intro C.
  assert (Z : forall n t, price_in n m 0 t = pos (1 - t)). {
    intros [|n] t; cbn [price_in]; [reflexivity|].
    assert (E : forall l, (forall x, In x l -> In x m) -> fold_right (fun type v =>
      if (fst type <=? 0)%nat
      then Rmax (star (price_in n m (0 - fst type)) (snd type) t) v else v)
      (pos (1 - t)) l = pos (1 - t)); [|apply E; auto].
    induction l as [|[c D] l IHl]; cbn [fold_right fst snd]; intro Hl; [reflexivity|].
    assert (1 <= c)%nat by (apply (C c D), Hl; left; reflexivity).
    destruct (Nat.leb_spec c 0); [lia|]; apply IHl; intros; apply Hl; right; auto. }
  induction n as [|n IH]; intros n' b t Hn Hn'.
  - assert (b = 0)%nat by lia; subst; rewrite 2!Z; reflexivity.
  - destruct b as [|b]; [rewrite 2!Z; reflexivity|].
    destruct n' as [|n']; [lia|]; cbn [price_in].
    rewrite (IH n' b t) by lia; generalize (price_in n' m b t); intro base.
    assert (E : forall l, (forall x, In x l -> In x m) ->
      fold_right (fun type v => if (fst type <=? S b)%nat
        then Rmax (star (price_in n m (S b - fst type)) (snd type) t) v else v) base l =
      fold_right (fun type v => if (fst type <=? S b)%nat
        then Rmax (star (price_in n' m (S b - fst type)) (snd type) t) v else v) base l);
      [|apply E; auto].
    induction l as [|[c D] l IHl]; cbn [fold_right fst snd]; intro Hl; [reflexivity|].
    rewrite IHl by (intros; apply Hl; right; auto).
    assert (1 <= c)%nat by (apply (C c D), Hl; left; reflexivity).
    destruct (Nat.leb_spec c (S b)); [|reflexivity]; f_equal.
    apply sum_ext; intros o Ho; f_equal; apply IH; lia.
Qed.

Lemma price_residual m : laws m -> (forall c D, In (c, D) m -> (1 <= c)%nat) ->
  residual m (price m).
Proof.
  intros L C; split; [intro b; apply price_in_profile, L|].
  intros b c D t Hin Hc Ht; unfold price.
  assert (1 <= c)%nat by (apply (C c D), Hin).
  destruct b as [|b]; [lia|].
  apply Rle_trans with (star (price_in b m (S b - c)) D t).
  - apply Req_le, sum_ext; intros o Ho; f_equal; apply price_in_fuel; [exact C|lia|lia].
  - cbn [price_in]; generalize (price_in b m b t); intro base.
    assert (E : forall l, In (c, D) l -> star (price_in b m (S b - c)) D t <=
      fold_right (fun type v => if (fst type <=? S b)%nat
        then Rmax (star (price_in b m (S b - fst type)) (snd type) t) v else v) base l);
      [|apply E, Hin].
    induction l as [|[c' D'] l IHl];
      cbn [fold_right fst snd]; [contradiction|].
    intros [E|Hl].
    + injection E as -> ->; destruct (Nat.leb_spec c (S b)); [apply Rmax_l|lia].
    + destruct (c' <=? S b)%nat; [|auto].
      eapply Rle_trans; [apply IHl, Hl|apply Rmax_r].
Qed.

(* In particular R_B holds for every analyst of budget B. *)
Theorem price_holds m : laws m -> (forall c D, In (c, D) m -> (1 <= c)%nat) ->
  forall B a, within m B a -> forall t, 0 <= t -> H (transcript a) t <= price m B t.
Proof.
  intros L C; apply residual_filter; [exact L|apply price_residual; auto].
Qed.

(* The natural filter is false: both ways through this analyst, as plans fixed in
   advance, have H(2) = 2/9, and the analyst has 8/27. *)
Example natural_filter :
  let coin := [(2 / 3, 1 / 3); (1 / 3, 2 / 3)] in
  let gives_away := [(2 / 9, 0); (7 / 9, 7 / 9); (0, 2 / 9)] in
  let run := fun A => Run 0 (map (fun o => (o, Stop)) A) in
  H (prod coin coin) 2 = 2 / 9 /\ H (prod coin gives_away) 2 = 2 / 9 /\
  H (transcript (Run 0 [(2 / 3, 1 / 3, run coin); (1 / 3, 2 / 3, run gives_away)])) 2 = 8 / 27.
Proof.
  cbv zeta; unfold H, prod; cbn [transcript scale flat_map map app sum fst snd].
  repeat split; repeat ((rewrite pos_id by lra) || (rewrite pos_0 by lra)); lra.
Qed.
