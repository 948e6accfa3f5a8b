// The flow with ogen.
package main

import (
	"context"
	"fmt"
	"os"

	"flow/accord"

	"github.com/ogen-go/ogen/ogenerrors"
)

func step(name string) { fmt.Println("step", name) }

func require(isTrue bool, seen any) {
	if !isTrue {
		panic(fmt.Sprintf("%T %+v", seen, seen))
	}
}

// as requires the response of a type: ogen has one for each status and media type.
func as[Wanted any](seen any, err error) Wanted {
	require(err == nil, err)
	wanted, isWanted := seen.(Wanted)
	require(isWanted, seen)
	return wanted
}

// Credentials of the flow: a token. ogen asks for each kind that the contract has.
type credentials struct{}

func (credentials) Oidc(context.Context, accord.OperationName) (accord.Oidc, error) {
	return accord.Oidc{Token: os.Getenv("ACCORD_TOKEN")}, nil
}
func (credentials) ApiKey(context.Context, accord.OperationName) (accord.ApiKey, error) {
	return accord.ApiKey{}, ogenerrors.ErrSkipClientSecurity
}
func (credentials) ApiKeyBasic(context.Context, accord.OperationName) (accord.ApiKeyBasic, error) {
	return accord.ApiKeyBasic{}, ogenerrors.ErrSkipClientSecurity
}
func (credentials) ApiKeyDashed(context.Context, accord.OperationName) (accord.ApiKeyDashed, error) {
	return accord.ApiKeyDashed{}, ogenerrors.ErrSkipClientSecurity
}
func (credentials) ChoicesCookie(context.Context, accord.OperationName) (accord.ChoicesCookie, error) {
	return accord.ChoicesCookie{}, ogenerrors.ErrSkipClientSecurity
}
func (credentials) ChoicesToken(context.Context, accord.OperationName) (accord.ChoicesToken, error) {
	return accord.ChoicesToken{}, ogenerrors.ErrSkipClientSecurity
}
func (credentials) PeerSignature(context.Context, accord.OperationName) (accord.PeerSignature, error) {
	return accord.PeerSignature{}, ogenerrors.ErrSkipClientSecurity
}
func (credentials) TransactionHeader(context.Context, accord.OperationName) (accord.TransactionHeader, error) {
	return accord.TransactionHeader{}, ogenerrors.ErrSkipClientSecurity
}
func (credentials) TransactionToken(context.Context, accord.OperationName) (accord.TransactionToken, error) {
	return accord.TransactionToken{}, ogenerrors.ErrSkipClientSecurity
}

func main() {
	ctx := context.Background()
	subject := os.Getenv("ACCORD_SUBJECT")
	client, err := accord.NewClient(os.Getenv("ACCORD_URL"), credentials{})
	require(err == nil, err)
	contextOf := func(layout string) *accord.ConsentContext {
		return &accord.ConsentContext{Subject: subject, Layout: accord.NewOptString(layout)}
	}

	step("create")
	created := as[*accord.TransactionCreatedHeaders](client.CreateTransaction(ctx, contextOf("layout.001"))).Response
	require(created.State == accord.StateCREATED, created)

	step("form")
	form := as[*accord.FormHeaders](client.GetForm(ctx, accord.GetFormParams{Txid: created.ID})).Response
	answers := accord.Answers{}
	for _, element := range form.Elements {
		require(element.Content.Title.Set || element.Content.Label.Set, element)
		answers[element.Identifier] = accord.Answer{element.Answers.Value[0]}
	}

	step("submit")
	inTransaction := accord.SubmitAnswersParams{Txid: created.ID}
	submitted := as[*accord.TransactionSubmittedHeaders](client.SubmitAnswers(ctx, answers, inTransaction)).Response
	require(submitted.State == accord.StateCOMMITTED, submitted)

	step("records")
	records := as[*accord.RecordsHeaders](client.ListRecords(ctx, accord.ListRecordsParams{Subject: subject})).Response
	require(records["processing.001"][0].Subject == subject, records)

	step("receipt")
	receipt := as[*accord.ReceiptHeaders](client.GetReceipt(ctx, accord.GetReceiptParams{Txid: created.ID})).Response
	require(len(receipt.Consents[0].Answer) > 0, receipt)

	step("withdraw")
	ofTransaction := accord.WithdrawConsentsParams{Txid: created.ID}
	withdrawn, err := client.WithdrawConsents(ctx, &accord.WithdrawalInput{}, ofTransaction)
	withdrawal := as[*accord.WithdrawalCreatedHeaders](withdrawn, err).Response
	require(withdrawal.Kind.Value == "WITHDRAWAL", withdrawal)

	step("problem")
	refused, err := client.CreateTransaction(ctx, contextOf("unknown"))
	problem := as[*accord.InvalidContextApplicationProblemJSONHeaders](refused, err).Response
	require(problem.Errors[0].Pointer == "/layout" && problem.Code.Set, problem)

	step("done")
}
